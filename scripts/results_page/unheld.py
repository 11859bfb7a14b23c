"""Which sentences of a page have numbers that nothing holds. Code, links, dates, versions, sizes, counts of what was
run and what stands between <!--given--> and <!--.--> are no measurements."""

from __future__ import annotations

import re

from .marks import MARK, NUMBER, blank

PLAIN = (
    re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL),
    re.compile(r"^    .*$", re.MULTILINE),
    re.compile(r"^#.*$", re.MULTILINE),
    MARK,
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"`[^`]*`"),
    re.compile(r"\]\([^)]*\)"),
)
NAMES = (
    "AVX|Clang|commits?|CUDA|cuFFT|cuFFTXt|CuPy|Debian|driver|FFTW|FFTW-MPI|family|GCC|JAX|label|Linux|model|MKL|NCCL"
    "|NumPy|NVRTC|OpenCL|Open MPI|PCIe|Python|PyTorch|SciPy|seed|torch|Ubuntu|VkFFT|weft|Zen"
)
UNITS = (
    "GiB|KB|KiB|MiB|bits?|bytes|points?|elements?|fields?|sources|sub-domains|lines|axes|axis|dimensions|arrays?"
    "|planes|tiles?|ranks?|threads?|cores?|GPUs?|nodes|processes|machines|links|parts?|groups?|rounds?|runs?|launches"
    "|iterations|calls|processors|voxels"
)
MEASURED = re.compile(r"\d\s?(%|[mµn]?s\b|[GT]B/s|GFLOP/s|times\b)")
NO_MEASUREMENTS = (
    re.compile(r"\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}"),
    re.compile(rf"\b({NAMES})(, (version|cuFFT))?[ -]v?\d+(\.\d+)*\b"),
    re.compile(r"(?<![\w.])\d+(\.\d+){2,}"),
    re.compile(r"\b\w*\d+(\.\d+)?\s?[²³]|\b\d+( ?[x×] ?\d+)+\b|\b\d+\^\w+|\b2[⁰-⁹]+"),
    re.compile(rf"(?<![\w.])\d[\d,]*(( to|,| and| or|, and)\s\d[\d,]*)*\s({UNITS})\b"),
    re.compile(r"\b(on|into) \d+(?=[,.;:)]| \()|\b99 % (confidence|interval)|\bmedians of \d+( to \d+)?"),
    re.compile(r"\b[a-zA-Z]+-?\d+[\w-]*\b|\b\d+-[a-zA-Z]\w*\b|\b\d+D\b|\b[NPKkMmn] ?= ?\d+"),
)
SENTENCE = re.compile(r"(?<=[.:;])\s+(?=[A-Z*(`\[])|\n(?=\s*[-|])|\n\s*\n")


def sentences(text: str) -> list[tuple[int, str, str]]:
    """Line, numbers and words of each sentence, list entry or row of a table that has such numbers."""
    left = text
    for pattern in (*PLAIN, *NO_MEASUREMENTS):
        left = pattern.sub(blank, left)
    found = []
    begins = [0, *(gap.end() for gap in SENTENCE.finditer(text))]
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        numbers = list(NUMBER.finditer(left, begin, end))
        if numbers:
            words = " ".join(re.sub(r"<!--.*?-->", "", text[begin:end], flags=re.DOTALL).split())
            line = text.count("\n", 0, numbers[0].start()) + 1
            found.append((line, ", ".join(number[0] for number in numbers), words))
    return found
