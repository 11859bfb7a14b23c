"""Help, manual pages and completions are made from the same tables: every flag is in each of them, and others read them."""

from __future__ import annotations

import os
import re
import subprocess
import unittest

from weft_case import Case

PYTHON_COMMANDS = ("bench", "plot", "compare")  # argparse makes their help
HELPS: dict[str, str] = {}  # of subcommands, as they print it
FLAG = re.compile(r"^  (?:-\w(?: \w+)?, )?--([a-z-]+)", re.MULTILINE)


def output_of(*command: str, text: str = "", **environment: str) -> str:
    """What a program prints, which must be all right to it: nothing on standard error, exit status 0."""
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0 and done.stderr == "", f"{command}: {done.returncode}, {done.stderr}"
    return done.stdout


class Pages(Case):
    def setUp(self) -> None:
        super().setUp()
        self.commands = re.findall(r"^  ([a-z]+)(?: .*)?  ", self.succeed("--help"), re.MULTILINE)
        self.commands = [name for name in self.commands if name not in ("weft", "mpirun")]
        self.assertGreater(len(self.commands), 15)

    def help_of(self, command: str) -> str:
        if command not in HELPS:
            HELPS[command] = self.succeed(command, "--help")
        return HELPS[command]

    def flags_of(self, command: str) -> list[str]:
        return [*FLAG.findall(self.help_of(command)), *(["version"] if command in PYTHON_COMMANDS else [])]

    def test_the_letter_h_is_help(self) -> None:
        for command in self.commands:
            self.assertEqual(self.help_of(command), self.succeed(command, "-h"), command)
        self.assertEqual(self.succeed("--help"), self.succeed("-h"))

    def test_every_subcommand_tells_the_version(self) -> None:
        for command in self.commands:
            self.assertEqual(self.succeed(command, "--version"), self.succeed("--version"), command)

    def test_every_help_has_two_examples_and_tells_defaults(self) -> None:
        for command in self.commands:
            text = self.help_of(command)
            examples = text.split("Examples:\n")[1].split("\n\n")[0].strip().split("\n")
            self.assertGreaterEqual(len(examples), 2, command)
            for example in examples:
                self.assertRegex(example, rf"\bweft (--ranks \d+ )?{command}\b")
            if command in PYTHON_COMMANDS:
                continue
            text = text.split("\nFlags:\n")[1]
            for entry in re.split(r"\n(?=  -)", text.rstrip("\n")):
                if re.match(r"  (-\w, )?--[a-z-]+( \w|\[=)", entry):
                    self.assertRegex(entry, r"default|needed", command)

    def test_examples_have_flags_that_there_are(self) -> None:
        for command in self.commands:
            examples = self.help_of(command).split("Examples:\n")[1].split("\n\n")[0]
            for flag in re.findall(r"--([a-z-]+)", examples):
                self.assertIn(flag, [*self.flags_of(command), "ranks"])

    def test_every_flag_is_in_the_manual_page(self) -> None:
        for command in self.commands:
            page = self.succeed("manual", command).replace("\\-", "-")
            for flag in self.flags_of(command):
                self.assertIn(f"--{flag}\\fR", page, command)
        overview = self.succeed("manual")
        for command in self.commands:
            self.assertIn(f"weft\\-{command} (1)", overview)

    def test_manual_pages_have_no_warnings(self) -> None:
        (self.folder / "man1").mkdir()
        self.succeed("manual", "--output", "man1")
        pages = sorted(os.listdir(self.folder / "man1"))
        self.assertEqual(pages, sorted(["weft.1"] + [f"weft-{command}.1" for command in self.commands]))
        paths = [str(self.folder / "man1" / page) for page in pages]
        for path in paths:
            with open(path) as page:
                output_of("groff", "-man", "-Tutf8", "-ww", "-z", text=page.read())
        if "mandoc" in os.environ["WEFT_READERS"]:
            said = subprocess.run(
                ["mandoc", "-Tlint", "-W", "warning", *paths], capture_output=True, text=True, check=False
            ).stdout
            self.assertEqual([line for line in said.split("\n") if line and "missing date" not in line], [])

    def test_pages_that_cannot_be_written_are_refused(self) -> None:
        self.refuse("manual", "dance")
        self.refuse("manual", "info", "--output", ".")
        self.refuse("manual", "--output", "nowhere", status=1)
        self.refuse("completion", "tcsh")
        self.refuse("completion")

    def test_bench_says_which_package_it_lacks(self) -> None:
        (self.folder / "jsonschema.py").write_text("raise ImportError\n")
        (self.folder / "job.json").write_text("{}")
        said = self.refuse("bench", "job.json", env=os.environ | {"PYTHONPATH": str(self.folder)})
        self.assertIn("apt-get install python3-jsonschema", said)

    def test_bash_completes_every_flag_and_its_values(self) -> None:
        script = self.succeed("completion", "bash") + (
            'ask() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMPREPLY=(); _weft; echo "${COMPREPLY[*]}"; }\n'
        )
        questions = [["weft", ""], ["weft", "--ranks", "2", "tr"], ["weft", "transform", "--device", ""]]
        questions += [["weft", "plan", "--stream", "=", "s"], ["weft", "microstructure", "v"], ["weft", "view", "a.n"]]
        questions += [["weft", command, "--"] for command in self.commands]
        script += "".join("ask " + " ".join(f"'{word}'" for word in words) + "\n" for words in questions)
        answers = output_of("bash", "--norc", text=script).split("\n")
        self.assertEqual(answers[0].split(), self.commands)
        self.assertEqual(answers[1:4], ["transform", "host cuda opencl openmp simulated", "sync"])
        self.assertEqual(answers[4:6], ["voxels voronoi", ""])
        for command, answer in zip(self.commands, answers[6:]):
            self.assertLessEqual({f"--{flag}" for flag in self.flags_of(command)}, set(answer.split()), command)

    def test_zsh_reads_its_completion_with_every_flag(self) -> None:
        script = self.succeed("completion", "zsh")
        if "zsh" in os.environ["WEFT_READERS"]:
            output_of("zsh", "-f", "-n", text=script)
            output_of("zsh", "-f", "-c", "autoload -U compinit; compinit -D -u; source /dev/stdin", text=script)
        for command in self.commands:
            part = script.split(f"\n    {command})\n")[1].split(";;")[0]
            for flag in self.flags_of(command):
                self.assertRegex(part, rf"--{flag}[=\[]", command)

    def test_fish_completes_every_flag_and_its_values(self) -> None:
        script = self.succeed("completion", "fish")
        if "fish" not in os.environ["WEFT_READERS"]:
            return
        questions = ["weft ", "weft --ranks 2 tr", "weft transform --device "]
        questions += [f"weft {command} --" for command in self.commands]
        for question in questions:
            script += f"echo '#'; complete -C '{question}'\n"
        home = str(self.folder)
        said = output_of("fish", "--no-config", text=script, HOME=home, XDG_CONFIG_HOME=home)
        answers = [[line.split("\t")[0] for line in part.split("\n")] for part in said.split("#\n")[1:]]
        self.assertLessEqual(set(self.commands), set(answers[0]))
        self.assertEqual(answers[1][:1], ["transform"])
        self.assertLessEqual({"host", "cuda", "simulated"}, set(answers[2]))
        for command, answer in zip(self.commands, answers[3:]):
            for flag in self.flags_of(command):
                self.assertTrue(any(word.split("=")[0] == f"--{flag}" for word in answer), (command, flag))


if __name__ == "__main__":
    unittest.main()
