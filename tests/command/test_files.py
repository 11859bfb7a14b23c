"""Files of every format, well formed and malformed."""

from __future__ import annotations

import os
import struct
import unittest
import zlib
from base64 import b64encode

import numpy as np

from weft_case import EXPAT, HDF5, TYPES, Case, random_array, transform


class Files(Case):
    def test_headers_of_every_numpy_version_order_and_byte_order(self) -> None:
        array = random_array((5, 6, 7), "f8")
        for version in ((1, 0), (2, 0), (3, 0)):
            for form in (
                array,
                np.asfortranarray(array),
                array.astype(">f8"),
                np.asfortranarray(array.astype(">f8")),
            ):
                with open(self.folder / "in.npy", "wb") as file:
                    np.lib.format.write_array(file, form, version=version)
                self.succeed("transform", "in.npy", "out.npy", ranks=2)
                self.assert_close(self.load("out.npy"), transform(array))

    def test_raw_files_of_every_type(self) -> None:
        for name, dtype in TYPES.items():
            array = random_array((5, 6, 7), dtype)
            array.tofile(self.folder / "in.raw")
            self.succeed(
                "transform", "in.raw", "out.bin", "--shape", "5x6x7", "--dtype", name, ranks=2
            )
            single = name in ("f4", "c8")
            got = np.fromfile(self.folder / "out.bin", dtype="c8" if single else "c16")
            expected = transform(array)
            self.assert_close(got.reshape(expected.shape), expected, single)

    @unittest.skipUnless(HDF5, "this build has no HDF5")
    def test_hdf5_files_go_round(self) -> None:
        for dtype in ("f8", "f4"):
            array = random_array((5, 6, 7), dtype)
            self.save("in.npy", array)
            for ranks in (1, 2, 4):
                self.succeed("transform", "in.npy", "file.h5:/deep/spectrum", ranks=ranks)
                self.succeed(
                    "transform",
                    "file.h5:/deep/spectrum",
                    "file.h5:/back",
                    "--inverse",
                    "--last-axis",
                    7,
                    ranks=ranks,
                )
                self.succeed("transform", "file.h5:/back", "out.npy", ranks=ranks)
                self.assert_close(self.load("out.npy"), transform(array), dtype == "f4")
        self.assertEqual(self.names(), ["file.h5", "in.npy", "out.npy"])

    def test_every_type_of_numpy_is_converted_and_that_is_said(self) -> None:
        for code in ("i1", "u4", ">i8", "u8", "b1", ">f2"):
            array = random_array((5, 6, 7), "f8") * 100
            array = (array > 0) if code == "b1" else (abs(array) if "u" in code else array).astype(code)
            self.save("in.npy", array)
            said = self.succeed("transform", "in.npy", "out.npy")
            single = code.endswith("f2")
            self.assertIn(f", read as {'f4' if single else 'f8'}", said.split("->")[0])
            self.assertEqual("(rounded beyond 2^53)" in said, code[-2:] in ("i8", "u8"))
            self.assert_close(self.load("out.npy"), np.fft.rfftn(array.astype("f4" if single else "f8")), single)
        self.assertNotIn("read as", self.transform_of(random_array((4, 5), "f4")))
        self.save("in.npy", np.array(["text"]))
        self.assertIn("a number of up to 8 bytes", self.refuse("transform", "in.npy", "out.npy"))

    def transform_of(self, array: np.ndarray) -> str:
        self.save("in.npy", array)
        return self.succeed("transform", "in.npy", "out.npy")

    def test_lines_are_transformed_by_several_ranks(self) -> None:
        for dtype in ("f8", "c16"):
            line = random_array((360,), dtype)
            self.save("in.npy", line)
            self.succeed("transform", "in.npy", "out.npy", ranks=3)
            self.assert_close(self.load("out.npy"), transform(line))

    def test_outputs_keep_the_mode_of_what_they_replace(self) -> None:
        self.transform_of(random_array((4, 5), "f8"))
        made = (self.folder / "out.npy").stat().st_mode
        for mode in (0o600, 0o444):
            for name, command in (
                ("out.npy", ["transform", "in.npy"]),
                ("picture.png", ["view", "in.npy", "-o"]),
                ("report.json", ["transform", "in.npy", "other.npy", "--report"]),
            ):
                (self.folder / name).touch()
                (self.folder / name).chmod(mode)
                self.succeed(*command, name)
                self.assertEqual((self.folder / name).stat().st_mode & 0o777, mode, (name, oct(mode)))
        (self.folder / "out.npy").unlink()
        self.transform_of(random_array((4, 5), "f8"))
        self.assertEqual((self.folder / "out.npy").stat().st_mode, made)

    def test_label_volumes_of_vtk(self) -> None:
        labels = random_array((13, 6, 9), "u2")
        text = "# vtk DataFile Version 4.5\nMaterials\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 14 7 10\nORIGIN 0 0 0\n"
        text += f"SPACING 1 1 1\nCELL_DATA {labels.size}\nSCALARS MaterialId unsigned_short\nLOOKUP_TABLE default\n"
        (self.folder / "amitex.vtk").write_bytes(text.encode() + labels.astype(">u2").tobytes(order="F") + b"\n")
        names = ["amitex.vtk", "amitex.vtk:MaterialId"]
        if EXPAT:
            # As DAMASK writes them: 64-bit integers, compressed in blocks, in base64, header and blocks apart.
            raw, size = labels.astype("<i8").tobytes(order="F"), 1 << 10
            blocks = [zlib.compress(raw[at : at + size]) for at in range(0, len(raw), size)]
            header = struct.pack(f"<{3 + len(blocks)}I", len(blocks), size, len(raw) % size, *map(len, blocks))
            data = b64encode(header).decode() + b64encode(b"".join(blocks)).decode()
            extent = "0 13 0 6 0 9"
            (self.folder / "damask.vti").write_text(
                '<?xml version="1.0"?>\n<VTKFile type="ImageData" version="0.1" byte_order="LittleEndian" '
                f'header_type="UInt32" compressor="vtkZLibDataCompressor"><ImageData WholeExtent="{extent}" Origin="0 0 0" '
                f'Spacing="1 1 1"><FieldData><Array type="String" Name="comments" format="ascii">65 0</Array></FieldData>'
                f'<Piece Extent="{extent}"><PointData></PointData><CellData><DataArray type="Int64" Name="material" '
                f'format="binary">\n  {data}\n</DataArray></CellData></Piece></ImageData></VTKFile>\n'
            )
            names += ["damask.vti", "damask.vti:material"]
        for name in names:
            self.succeed("transform", name, "out.npy", ranks=3 if ":" in name else 1)
            self.assert_close(self.load("out.npy"), transform(labels))
        self.save("labels.npy", labels)
        for file, picture in [(names[-1], "a.png"), ("labels.npy", "b.png")]:
            self.succeed("view", file, "-o", picture, "--axis", 1)
        self.assertEqual((self.folder / "a.png").read_bytes(), (self.folder / "b.png").read_bytes())
        self.assertIn("it has MaterialId", self.refuse("transform", "amitex.vtk:material", "new.npy"))
        self.assertIn("does not write them", self.refuse("transform", "labels.npy", "new.vtk"))
        os.truncate(self.folder / names[-1].split(":")[0], 700)
        self.refuse("transform", names[-1], "new.npy")
        self.assertFalse({"new.npy", "new.vtk"} & set(self.names()))

    def test_a_file_can_be_transformed_into_itself(self) -> None:
        array = random_array((5, 6, 7), "c16")
        self.save("in.npy", array)
        self.succeed("transform", "in.npy", "in.npy", ranks=2)
        self.assert_close(self.load("in.npy"), transform(array))

    def test_a_link_is_followed_and_stays(self) -> None:
        array = random_array((5, 6), "c16")
        self.save("in.npy", array)
        (self.folder / "real.npy").touch()
        (self.folder / "link.npy").symlink_to("real.npy")
        self.succeed("transform", "in.npy", "link.npy")
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assert_close(self.load("real.npy"), transform(array))

    def test_output_obeys_the_umask(self) -> None:
        self.save("in.npy", random_array((5, 6), "f8"))
        self.succeed("transform", "in.npy", "out.npy")
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual((self.folder / "out.npy").stat().st_mode & 0o777, 0o666 & ~mask)

    def test_larger_arrays_on_uneven_ranks(self) -> None:
        array = random_array((61, 67, 71), "i2")
        self.save("in.npy", array)
        for flags in (["--decomposition", "pencil"], ["--decomposition", "slab-1d2d"]):
            self.succeed("transform", "in.npy", "out.npy", *flags, ranks=3)
            self.assert_close(self.load("out.npy"), transform(array))
            self.succeed(
                "transform", "out.npy", "back.npy", "--inverse", "--last-axis", 71, *flags, ranks=4
            )
            self.assert_close(self.load("back.npy"), array.astype("f8"))

    def test_malformed_files_are_refused(self) -> None:
        array = random_array((5, 6, 7), "f8")
        self.save("good.npy", array)
        good = (self.folder / "good.npy").read_bytes()
        lying = good.replace(b"(5, 6, 7)", b"(5, 6, 8)")
        huge = good.replace(b"(5, 6, 7), }" + b" " * 20, b"(4294967296, 4294967296), }     ")
        bad = {
            "empty": b"",
            "magic": b"hello" + good[5:],
            "cut_header": good[:40],
            "cut_data": good[:-1],
            "lying": lying,
            "huge": huge,
            "header_length": good[:8] + b"\xff\xff" + good[10:],
            "header_length_2": good[:6] + b"\x02\x00\xff\xff\xff\xff" + good[12:],
            "zero": good.replace(b"(5, 6, 7)", b"(5, 0, 7)"),
            "negative": good.replace(b"(5, 6, 7)", b"(-5, 6,7)"),
            "scalar": good.replace(b"(5, 6, 7)", b"()       "),
        }
        self.assertNotEqual(huge, good)
        for dtype in ("g", "G", "O", "S4", "M8[s]"):
            np.save(self.folder / "odd.npy", np.zeros((2, 2), dtype=dtype), allow_pickle=True)
            bad[f"dtype_{dtype}"] = (self.folder / "odd.npy").read_bytes()
        np.save(self.folder / "odd.npy", np.zeros((2, 2), dtype=[("a", "f8"), ("b", "f8")]))
        bad["record"] = (self.folder / "odd.npy").read_bytes()
        np.save(self.folder / "odd.npy", np.zeros((1,) * 9))
        bad["nine_axes"] = (self.folder / "odd.npy").read_bytes()
        for name, content in bad.items():
            with self.subTest(name):
                (self.folder / "bad.npy").write_bytes(content)
                self.refuse(
                    "transform",
                    "bad.npy",
                    "out.npy",
                    ranks=2 if name in ("cut_data", "lying") else 1,
                )
                self.assertNotIn("out.npy", self.names())

    @unittest.skipUnless(HDF5, "this build has no HDF5")
    def test_malformed_hdf5_files_are_refused(self) -> None:
        self.save("in.npy", random_array((5, 6, 7), "f8"))
        self.succeed("transform", "in.npy", "good.h5:/x")
        good = (self.folder / "good.h5").read_bytes()
        for cut in (0, 10, 100, len(good) // 2, len(good) - 1):
            (self.folder / "bad.h5").write_bytes(good[:cut])
            self.refuse("transform", "bad.h5:/x", "out.npy", ranks=2 if cut == 100 else 1)
        self.refuse("transform", "good.h5:/y", "out.npy", ranks=2)
        self.refuse("transform", "good.h5", "out.npy")
        self.refuse("transform", "good.h5:/", "out.npy")
        self.assertEqual(self.names(), ["bad.h5", "good.h5", "in.npy"])


if __name__ == "__main__":
    unittest.main()
