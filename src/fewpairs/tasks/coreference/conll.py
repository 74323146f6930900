"""Files of the CoNLL shared tasks: the clusters of mentions in their last column."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import is_whole
from fewpairs.errors import FileFormatError, InputError, MissingFileError
from fewpairs.files.writing import atomic

Span = tuple[int, int]
Documents = dict[str, list[list[Span]]]

#: What parts columns. A token may be another blank, as of a page's end.
_COLUMNS = re.compile(r"[ \t]+")
_BEGIN, _END = "#begin document", "#end document"
#: One mention of one token, the first token of a mention, the last one: "(1)", "(1", "1)". Each
#: place of a text is looked at once, however long a word is.
_MARK = re.compile(r"(\(?)(\w+)(\)?)")
_NO_MARKS = ("-", "_", "*")
#: Characters of a cell that an error shows.
_SHOWN = 40


def read_conll(path: str | Path) -> Documents:
    """Read the clusters of a CoNLL file.

    Parameters
    ----------
    path : str or Path
        Columns parted by white space; the last one says which clusters begin and end at a token.

    Returns
    -------
    dict
        From the name of a document, as its first line has it, to its clusters: lists of mentions
        ``(first token, token after the last)``. Tokens are counted from 0 in each document. A
        mention that is marked twice belongs to the cluster that was opened first, as in the
        official scorer.

    See Also
    --------
    write_conll, coreference_scores

    Examples
    --------
    >>> import fewpairs as fp, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.conll"
    >>> fp.write_conll(path, {"(news); part 000": [[(0, 2), (3, 4)], [(1, 2)]]})
    >>> fp.read_conll(path)
    {'(news); part 000': [[(0, 2), (3, 4)], [(1, 2)]]}
    """
    lines = _text(path)
    documents: Documents = {}
    document: _Document | None = None
    for number, line in enumerate(lines, 1):
        if line.startswith(_BEGIN):
            if document is not None:
                raise document.wrong(number, "a document begins before the last one has ended")
            name = line.removeprefix(_BEGIN).strip()
            document = _Document(path, name)
            if name in documents:
                raise document.wrong(number, f"the document {name} begins a second time")
        elif line.startswith(_END):
            if document is None:
                raise _Document(path, "").wrong(number, "a document ends that has not begun")
            documents[document.name] = document.clusters(number)
            document = None
        elif not _is_remark(line):
            if document is None:
                raise _Document(path, "").wrong(number, f"there is no line {_BEGIN!r} before this")
            document.read(number, _COLUMNS.split(line.strip(" \t"))[-1])
    if document is not None:
        raise document.wrong(len(lines), "the last document has no end")
    return documents


def _is_remark(line: str) -> bool:
    """Say whether a line tells of no token: it is empty, or a "#" that no mark stands behind.

    A token may begin with "#" itself; then the last column is one of marks.
    """
    columns = _COLUMNS.split(line.strip(" \t"))
    if not line.startswith("#"):
        return columns == [""]
    return len(columns) == 1 or not _is_marks(columns[-1])


def _is_marks(cell: str) -> bool:
    return cell in _NO_MARKS or bool(_marks(cell))


def _marks(cell: str) -> list[tuple[str, str, str]]:
    """Return (bracket, cluster, bracket) of each mark; none if the cell is anything else."""
    found = [(mark[1], mark[2], mark[3]) for mark in _MARK.finditer(cell)]
    whole = "".join("".join(mark) for mark in found) == cell.replace("|", "")
    return found if whole and all(one or other for one, _, other in found) else []


def _text(path: str | Path) -> list[str]:
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"path is a {type(path).__name__}.",
            "It is the name of a file.",
            "Pass a text or a Path.",
        )
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
        # Of all that Python takes for the end of a line, files have these; others may be tokens.
        lines = text.replace("\r\n", "\n").split("\n")
        return lines if lines[-1] else lines[:-1]
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{str(path)!r} is not a text in UTF-8: byte {error.start}.",
            "A CoNLL file is one.",
            "Convert it first.",
        ) from error
    except (OSError, ValueError) as error:
        raise MissingFileError(
            f"there is no file {str(path)!r} that can be read.", "", "Check its name."
        ) from error


class _Document:
    """One document while it is read."""

    def __init__(self, path: str | Path, name: str) -> None:
        self.path, self.name, self.tokens = path, name, 0
        self._open: dict[str, list[tuple[int, int]]] = {}
        self.mentions: list[tuple[int, Span, str]] = []
        self._opened = 0

    def read(self, number: int, marks: str) -> None:
        """Take what the last column says of one token."""
        token, self.tokens = self.tokens, self.tokens + 1
        if marks in _NO_MARKS:
            return
        found = _marks(marks)
        if not found:
            shown = marks if len(marks) <= _SHOWN else marks[: _SHOWN - 1] + "…"
            raise self.wrong(number, f"{shown!r} is not like '(1', '1)', '(1)' or '-'")
        for opens, cluster, closes in found:
            if opens and closes:
                self.mentions.append((self._opened, (token, token + 1), cluster))
            elif opens:
                self._open.setdefault(cluster, []).append((self._opened, token))
            elif not self._open.get(cluster):
                raise self.wrong(number, f"cluster {cluster[:_SHOWN]} ends here and has not begun")
            else:
                order, start = self._open[cluster].pop()
                self.mentions.append((order, (start, token + 1), cluster))
            self._opened += 1

    def clusters(self, number: int) -> list[list[Span]]:
        """Return the clusters in the order in which they were opened."""
        left = [name for name, starts in self._open.items() if starts]
        if left:
            raise self.wrong(number, f"a mention of cluster {left[0]} has no end")
        found: dict[str, list[Span]] = {}
        seen: set[Span] = set()
        for _, span, cluster in sorted(self.mentions):
            if span not in seen:
                found.setdefault(cluster, []).append(span)
                seen.add(span)
        return list(found.values())

    def wrong(self, number: int, what: str) -> FileFormatError:
        return FileFormatError(
            f"{str(self.path)!r}, line {number}: {what}.",
            "The clusters cannot be told from such a line.",
            "Mend the file.",
        )


def write_conll(
    path: str | Path,
    documents: Mapping[str, Sequence[Sequence[Span]]],
    *,
    tokens: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write clusters to a CoNLL file, whole or not at all.

    Parameters
    ----------
    path : str or Path
    documents : mapping
        From the name of a document to its clusters: lists of mentions ``(first token, token after
        the last)``. Clusters that cross documents belong to one document with all mentions.
    tokens : mapping, optional
        From the name of a document to its tokens. Without them a document ends with its last
        mention, and its tokens are written as ``_``.

    See Also
    --------
    read_conll

    Examples
    --------
    >>> import fewpairs as fp, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.conll"
    >>> words = {"(news); part 000": ["The", "ape", "bit", "it"]}
    >>> fp.write_conll(path, {"(news); part 000": [[(0, 2)], [(3, 4)]]}, tokens=words)
    >>> print(path.read_text().expandtabs(4))
    #begin document (news); part 000
    0   The (0
    1   ape 0)
    2   bit -
    3   it  (1)
    #end document
    """
    for given, what in ((documents, "documents"), ({} if tokens is None else tokens, "tokens")):
        if not isinstance(given, Mapping):
            raise InputError(
                f"{what} is a {type(given).__name__}.",
                "Each document has a name.",
                "Pass a mapping from the names of documents.",
            )
    lines: list[str] = []
    for name, clusters in documents.items():
        if not isinstance(name, str) or name != name.strip() or len(name.splitlines()) != 1:
            raise InputError(
                f"{name!r} is the name of a document.",
                "It stands at the end of a line.",
                "Pass a name of one line, without blanks around it.",
            )
        words = None if tokens is None else tokens.get(name)
        lines += [f"{_BEGIN} {name}", *_lines(name, clusters, words), _END]
    with atomic(Path(path)) as unfinished:
        unfinished.write_bytes(_encoded(lines))


def _encoded(lines: list[str]) -> bytes:
    try:
        return "".join(line + "\n" for line in lines).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"a name or a token holds {error.object[error.start]!r}, half a character.",
            "There are no bytes for it in UTF-8.",
            "Replace it.",
        ) from error


def _lines(name: str, clusters: Sequence[Sequence[Span]], words: Sequence[str] | None) -> list[str]:
    """Return a line for each token."""
    try:
        told = [(span, k) for k, cluster in enumerate(clusters) for span in cluster]
        n_words = None if words is None else len(words)
    except TypeError as error:
        raise InputError(
            f"{name} has clusters or tokens that are no lists: {error}.",
            "A document has clusters, and a cluster has mentions.",
            "Pass for example [[(0, 2), (3, 4)], [(1, 2)]].",
        ) from error
    for span, k in told:
        _check_span(name, span, k, n_words)
    spans = [((int(span[0]), int(span[1])), k) for span, k in told]
    seen: set[Span] = set()
    for span, _ in spans:
        if span in seen:
            raise InputError(
                f"{name} has the mention {span} twice.",
                "A reader would keep one of them.",
                "Leave it in one cluster, once.",
            )
        seen.add(span)
    n = max((end for (_, end), _ in spans), default=0) if words is None else len(words)
    single: list[str] = [""] * n
    first, last = [""] * n, [""] * n
    # Readers match the marks of one cluster as brackets; all marks nest where mentions do, for the
    # eye: the longer one opens first, and the one that began last closes first.
    for (start, end), k in sorted(spans, key=lambda one: (one[0][0], -one[0][1])):
        if end == start + 1:
            single[start] += f"({k})"
        else:
            first[start] += f"({k}"
    for (start, end), k in sorted(spans, key=lambda one: -one[0][0]):
        if end > start + 1:
            last[end - 1] += f"{k})"
    marks = [last[k] + first[k] + single[k] or "-" for k in range(n)]
    _check_crossing(name, marks, set(spans))
    shown = ["_"] * n if words is None else ["".join(str(word).split()) or "_" for word in words]
    return ["\t".join((str(k), shown[k], marks[k])) for k in range(n)]


def _check_crossing(name: str, marks: list[str], spans: set[tuple[Span, int]]) -> None:
    """Read what is to be written: mentions of one cluster that cross come back as others."""
    document = _Document(name, name)
    for number, mark in enumerate(marks):
        document.read(number, mark)
    if {(span, int(k)) for _, span, k in document.mentions} != spans:
        raise InputError(
            f"{name} has two mentions in one cluster that cross: each has a token of its own.",
            "The format cannot say which beginning belongs to which end.",
            "Leave one of them out, or write them to different documents.",
        )


def _check_span(name: str, span: Any, cluster: int, n: int | None) -> None:
    listed = isinstance(span, (tuple, list, np.ndarray)) and np.ndim(span) == 1
    whole = listed and len(span) == 2 and all(is_whole(place) for place in span)  # noqa: PLR2004
    if not whole or not 0 <= span[0] < span[1] or (n is not None and span[1] > n):
        raise InputError(
            f"{name} has the mention {span!r} in cluster {cluster}"
            + ("." if n is None else f", and {n} tokens."),
            "A mention is (first token, token after the last).",
            "Pass spans within the document.",
        )
