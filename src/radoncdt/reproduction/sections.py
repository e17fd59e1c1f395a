"""The sections of the report as data: prose, grids and figures. Templates turn them into HTML and Markdown."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from radoncdt._text import format_count
from radoncdt.reproduction import baselines, labels, robustness, table1
from radoncdt.reproduction.choice import PARTS
from radoncdt.reproduction.labels import format_difference, format_figure, format_printed
from radoncdt.reproduction.measurement import NOTABLE, Measurand, Summary, group_by
from radoncdt.reproduction.outcome import Outcome
from radoncdt.reproduction.protocol import Cell
from radoncdt.reproduction.recognition import few_shot_tables, networks, tables
from radoncdt.reproduction.robustness import Trial

__all__ = ["Grid", "GridEntry", "Section", "describe_missing_baselines", "list_sections", "make_entry"]

_PAPER = (
    "Beckmann, Beinert, Bresch: Max-Normalized Radon Cumulative Distribution Transform for Limited Data "
    "Classification (SSVM 2025, arXiv 2411.16282), Tables 1 to 4 and Figures 2 to 4."
)
_AGREEMENT = (
    "The results of the published protocol are compared with the paper's. They agree if they differ by less than "
    f"{NOTABLE:g} standard errors, which are defined below."
)
_CHANCE = "With {draws}, about {share:.0%} of the differences would be larger by chance even if both measured the same."
_SINGLE_DRAW = "A single random draw has no standard error, so agreement cannot be judged."
_DIFFERENCES = "These results do not agree. Rows are numbers of angles in Table 2 and class sizes in Tables 3 and 4."
_TABLE_1 = (
    f"Both sides of every row are compared by their quantile functions in {table1.N_ANGLES} directions at "
    f"{table1.N_LEVELS} levels, for a random point cloud, which moves exactly, and for a drawn symbol, which is "
    "resampled. Errors are in pixels. Rows that do not hold for the points are flagged. The printed row of the "
    "vertical shear is a slip: its right-hand side belongs to the matrix (1 c; 0 1)."
)
_ENTRIES = (
    "The first line of an entry is our accuracy: the mean over {draws} unless another number is given, ± the standard "
    "deviation within a draw (over folds or references, averaged over the draws). Below it are the standard deviation "
    "between draws, the paper's result, and the difference, ours minus the paper's, with its size in standard errors. "
    "The paper prints one draw, rounded, and ours is a mean. If both measure the same, the variance of the difference "
    "is the variance between draws times 1 + 1/{n}, plus the variance of rounding. If the draws agree exactly, only "
    f"rounding error remains. For the published protocol, differences of at least {NOTABLE:g} standard errors are "
    "flagged: bold in Markdown, coloured in HTML."
)
_TIES = (
    "The support vector machines decide as in scikit-learn: a score greater than 0 means the second class, any other "
    "score the first. “ties” is the share of the test samples whose score is exactly 0. Such samples are "
    "orthogonal to the weights, and all of them are assigned to the first class. Entries without this line have no "
    "ties."
)
_FOLD_MAXIMUM = (
    "The R-CDT columns of the paper's Table 4 are the largest of the ten folds, not their mean: for class sizes 10, 20 "
    "and 50 each is a multiple of one over the number of test images. The report gives both; compare “max of folds” "
    "with the paper."
)
_VARIANTS = (
    "Each table compares the same cells with and without a single change. The random draws are the same, except for "
    "the shared maps, where other maps are drawn."
)
_ROBUSTNESS = (
    "Beckmann, Beinert, Bresch: Normalized Radon Cumulative Distribution Transforms for Invariance and Robustness in "
    "Optimal Transport Based Image Classification (arXiv 2506.08761). Each set is drawn once. There are {repetitions}, "
    "each with its own random choice of training images, the same ones for all methods; the other images are tested. "
    "The k nearest training images vote; among classes with equally many votes the first in the order of labels wins. "
    "An entry has the mean ± the standard deviation over the repetitions, then the authors' mean of 20 repetitions on "
    "a set of their own, where they have one, and the difference, ours minus theirs. The authors' images of salt and "
    "all had no shear. Maps may move a symbol across the border of the canvas, where it is cut off or wrapped around. "
    "A few images of aff and elastic are therefore not affine copies."
)
_METHODS = (
    f"All transforms have {robustness.N_ANGLES} directions on the half circle and {robustness.N_LEVELS} levels for all "
    "sets. R-CDT, mNR-CDT and aNR-CDT are the authors': equispaced directions, levels k/(n + 1), mean and standard "
    "deviation over the levels. The others are ours: whitened directions and exact moments. “robust, registered” uses "
    "the moments of a Student t distribution with 3 degrees of freedom and omits a sixteenth of the levels at either "
    "end. Features are compared by their Euclidean distance."
)
_BASELINES = (
    "Baselines from other libraries: Hu moments as sign(h)·log10|h|, standardised on the training images; Zernike "
    f"moments up to degree {baselines.MAX_DEGREE} and HOG (9 orientations, cells of 16 pixels, blocks of 2 × 2 cells) "
    f"of the whitened image of {baselines.SIDE} × {baselines.SIDE} pixels, with 3 standard deviations from the middle "
    "to the border, which is also the radius of the Zernike moments."
)
_FEW_SHOT = (
    "Columns are numbers of training images per class; the first ones of a draw are also in its larger training sets. "
    "An entry is the mean accuracy over the draws ± its standard error. All methods see the same images. The network "
    "has four convolutions. It is trained on the examples and on affine and elastic variants of them, whose "
    "distribution is that of the maps of the set, and a fifth of its training images are not resampled. A test image "
    "is classified by the mean over eight variants and itself. The pretrained network is an EfficientNet-lite0."
)
_FEW_SHOT_TIME = "The processor time of training and of classifying all test images, in one thread:"
_WINS = (
    "Methods that are better than the few-shot classifier by more than one standard error of the difference on the "
    "same draws, with the sets, the numbers of examples and the differences:"
)
_GLYPHS = (
    "One template per character; each query is moved by a random map: any rotation, scales of x and y from 0.5 to 1, "
    "shears of ±25°. An affine copy of the right character counts as right. The time is processor time per query, with "
    "its description and without that of the templates. Errors are those of the sample of queries."
)
_ONE_SHOT = (
    "Twenty characters of one alphabet, one image of each by one person, and the same characters by another person. "
    "Errors are those of the sample of tasks."
)
_SETUP = {
    "draws": ("random draws", ""),
    "angles": ("angles", "the paper's"),
    "sizes": ("class sizes", "the paper's, up to the digits at hand"),
    "digits_source": ("digits", "not needed"),
    "digits": ("digits, SHA-256", "–"),
    "sources": ("radoncdt, sources", ""),
    "glyphs": ("fonts of the characters", "not needed"),
    "fonts": ("fonts of the capitals", "not needed"),
    "data": ("Omniglot", "not needed"),
}  # how the report names entries of the set-up, and what None means; elsewhere, None is a library that is missing


_OPTIONS = {
    **dict.fromkeys(("protocols", "draws", "angles", "sizes"), PARTS),
    "repetitions": ("robustness",),
    "quick": ("few-shot",),
    "fonts": ("few-shot",),
    "glyphs": ("glyphs",),
    "data": ("omniglot",),
}
"""The parts for which an option matters."""


class GridEntry(NamedTuple):
    """The content of one place in a grid."""

    text: str
    more: Sequence[str] = ()  # further lines, which are less prominent
    flag: int = 0  # −1 or 1 for a figure that is notably smaller or larger than the paper's


class Grid(NamedTuple):
    """A table of the report."""

    header: Sequence[str]
    rows: Sequence[Sequence[GridEntry]]
    title: str = ""


class Section(NamedTuple):
    """A titled part of the report: an optional warning, then paragraphs and grids, then figures."""

    title: str
    blocks: Sequence[str | Grid] = ()
    figures: Sequence[str] = ()  # names of figures
    warning: str = ""

    @property
    def anchor(self) -> str:
        """The target of links to this section, formed as Markdown viewers form it."""
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")


def list_sections(outcome: Outcome, figures: Iterable[str]) -> list[Section]:
    """List all sections of the report, with the names of the figures that were drawn."""
    sections = [_summarise(outcome), _describe_setup(outcome)]
    if outcome.checks:
        sections.append(_show_table1(outcome))
    names = dict.fromkeys(summary.measurand.table for summary in outcome.cells)
    sections += [_show_table(name, outcome, [f for f in figures if f.endswith(name)]) for name in names]
    if outcome.comparisons:
        sections.append(_show_variants(outcome))
    if "robustness" in outcome.choice.parts:
        sections.append(_show_robustness(outcome, [figure for figure in figures if figure.startswith("robustness")]))
    if outcome.recognitions:
        sections.append(_show_few_shot(outcome, [figure for figure in figures if figure == "few_shot"]))
    if outcome.glyphs:
        grid = _make_grid(*tables.list_glyphs([asdict(figures) for figures in outcome.glyphs]))
        sections.append(Section("Characters of another typeface", [_GLYPHS, grid]))
    if outcome.one_shot:
        grid = _make_grid(*tables.list_one_shot([asdict(figures) for figures in outcome.one_shot]))
        sections.append(Section("Omniglot, one example per character", [_ONE_SHOT, grid]))
    if paper := [figure for figure in figures if figure.startswith("figure")]:
        sections.append(Section("Figures", figures=paper))
    times = [_make_row(step, f"{seconds:.1f} s") for step, seconds in outcome.seconds.items()]
    return [*sections, Section("Time", [Grid(["step, all threads together", "time"], times)])]


# ---------------------------------------------------------------- agreement with the paper


def _summarise(outcome: Outcome) -> Section:
    """Count the figures that agree with the paper's, and list those that do not."""
    blocks: list[str | Grid] = []
    if set(outcome.choice.parts) & set(PARTS):
        blocks.append(_PAPER)
    if outcome.checks:
        failures = [f"{c.transformation} ({c.points_error:.0f} pixels)" for c in outcome.checks if not c.holds]
        text = f"Table 1: {len(outcome.checks) - len(failures)} of {len(outcome.checks)} rows hold up to rounding."
        blocks.append(text + (f" Rows with errors: {', '.join(failures)}." if failures else ""))
    if cells := [s for s in outcome.cells if s.paper and s.measurand.is_as_published]:
        blocks += _compare_cells(cells)
    if trials := [s for s in outcome.trials if s.paper]:
        blocks.append(_compare_trials(trials))
    if not blocks:
        blocks.append("The parts of this report repeat no published figures.")
    missing = f"This report is partial: {format_count(outcome.missing, 'measurement')} missing."
    return Section("Summary", blocks, warning=missing if outcome.missing else "")


def _compare_cells(cells: Sequence[Summary[Cell]]) -> list[str | Grid]:
    """Count and list differences of cells in the published protocol that the paper has as well."""
    from scipy.special import stdtr

    counts, differences = [], []
    for group in group_by(cells, lambda s: s.measurand.table):
        judged = [s for s in group if s.standard_errors is not None]
        found = [str(sum(s.flag == flag for s in judged)) if judged else "–" for flag in (0, 1, -1)]
        worst = max(group, key=lambda s: abs(_subtract_paper(s)))
        place = f"{labels.label_column(worst.measurand)}, {labels.label_row(worst.measurand)}"
        largest = f"{_subtract_paper(worst):+z.3f} ({place})"
        counts.append(_make_row(f"Table {worst.measurand.table[-1]}", str(len(judged or group)), *found, largest))
    for group in group_by(cells, lambda s: (s.measurand.table, labels.label_column(s.measurand))):
        cell = group[0].measurand
        for flag, word in ((1, "higher"), (-1, "lower")):
            if flagged := [(s, s.paper) for s in group if s.paper and s.flag == flag]:
                texts = [f"{labels.find_row(s.measurand)}: {s.ours:.3f} ({p.mean:.{p.digits}f})" for s, p in flagged]
                first = _make_row(f"Table {cell.table[-1]}", labels.label_column(cell), word)
                differences.append([*first, GridEntry(", ".join(texts), flag=flag)])
    n = max(s.draws for s in cells)
    chance = _SINGLE_DRAW
    if n > 1:  # normal variables differ from the mean of n others by Student's t with n − 1 degrees, in standard errors
        chance = _CHANCE.format(draws=format_count(n, "draw"), share=2 * stdtr(n - 1, -NOTABLE))
    header = ["", "results compared", "agree", "ours higher", "ours lower", "largest difference"]
    blocks: list[str | Grid] = [f"{_AGREEMENT} {chance}", Grid(header, counts)]
    if differences:
        blocks += [_DIFFERENCES, Grid(["", "column", "ours", "row: ours (paper)"], differences)]
    return blocks


def _compare_trials(trials: Sequence[Summary[Trial]]) -> str:
    """Compare the accuracies of the robustness study with the authors'."""
    worst = max(trials, key=lambda s: abs(_subtract_paper(s)))
    trial, average = worst.measurand, sum(abs(_subtract_paper(s)) for s in trials) / len(trials)
    return (
        f"Robustness: {format_count(len(trials), 'result')} can be compared with the authors'. The mean absolute "
        f"difference is {average:.3f}. The largest is {_subtract_paper(worst):+z.3f}, for "
        f"{labels.METHODS[trial.method]} on the set {labels.SETS[trial.dataset]} with {trial.n_train} training images "
        f"per class: ours {worst.mean:.3f}, theirs {format_printed(worst.paper)}."
    )


def _subtract_paper(summary: Summary[Measurand]) -> float:
    """Subtract the paper's figure from ours, in a summary that has both."""
    return summary.ours - (summary.paper_mean or 0.0)


# ---------------------------------------------------------------- the parts


def _make_row(*texts: str, flag: int = 0) -> list[GridEntry]:
    return [GridEntry(text, flag=flag) for text in texts]


def _describe_setup(outcome: Outcome) -> Section:
    rows = []
    parts = set(outcome.choice.parts)
    unneeded = {option for option, needing in _OPTIONS.items() if not parts & set(needing)}
    for key, value in outcome.describe().items():
        if key in unneeded:
            continue
        name, absent = _SETUP.get(key, (key.replace("_", " "), "not installed"))
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        rows.append(_make_row(name, absent if value is None else text))
    return Section("Set-up", [Grid(["", ""], rows)])


def _show_table1(outcome: Outcome) -> Section:
    header = ["transformation", "A", "y", "points, largest error", "image, largest error", "image, root mean square"]
    rows = []
    for check in outcome.checks:
        matrix = "; ".join(" ".join(f"{value:.2f}" for value in row) for row in check.matrix)
        shift = " ".join(f"{value:.2f}" for value in check.shift)
        errors = f"{check.points_error:.1e}", f"{check.image_error:.3f}", f"{check.image_root_mean_square:.3f}"
        place = check.transformation, f"({matrix})", f"({shift})"
        rows.append(_make_row(*place, *errors, flag=0 if check.holds else -1))
    return Section("Table 1: affine maps and the Radon transform", [_TABLE_1, Grid(header, rows)])


def _show_table(name: str, outcome: Outcome, figures: Sequence[str]) -> Section:
    """Show Table 2, 3 or 4. The first table explains its entries, and the first table with ties explains the ties."""
    blocks: list[str | Grid] = []
    n = outcome.choice.draws
    if outcome.cells[0].measurand.table == name:
        blocks.append(_ENTRIES.format(draws=format_count(n, "random draw"), n=n))
    if next((s.measurand.table for s in outcome.cells if s.measurand.has_ties), "") == name:
        blocks.append(_TIES)
    if name == "table4":
        blocks.append(_FOLD_MAXIMUM)
    corner = "angles" if name == "table2" else "class size"
    for protocol in outcome.choice.protocols:
        cells = [(s.measurand, s) for s in outcome.select_cells(name, protocol)]
        places = {(f"{labels.find_row(cell):,}", labels.label_column(cell)): s for cell, s in cells}
        blocks += _arrange(places, corner, labels.PROTOCOLS[protocol], n)
    return Section(labels.TABLES[name], blocks, figures)


def _show_variants(outcome: Outcome) -> Section:
    blocks: list[str | Grid] = [_VARIANTS]
    for variant, pairs in outcome.comparisons:
        rows = []
        for published, otherwise in pairs:
            cell = published.measurand
            feature = labels.label_column(cell) if cell.norm else labels.FEATURES[cell.feature]
            place = cell.table.removeprefix("table"), feature, str(cell.n_angles or "–"), f"{cell.class_size:,}"
            figures = format_printed(published.paper), f"{published.mean:.3f}", f"{otherwise.mean:.3f}"
            rows.append(_make_row(*place, *figures, f"{otherwise.mean - published.mean:+z.3f}"))
        if rows:
            changes = variant.published, variant.otherwise, "difference"
            blocks.append(Grid(["table", "feature", "angles", "class size", "paper", *changes], rows, variant.title))
    return Section("The effect of the protocol", blocks)


def _show_robustness(outcome: Outcome, figures: Sequence[str]) -> Section:
    repetitions = format_count(outcome.choice.repetitions, "repetition")
    blocks: list[str | Grid] = [_ROBUSTNESS.format(repetitions=repetitions), _METHODS, _BASELINES]
    for name, study in robustness.STUDIES.items():
        trials = [(s.measurand, s) for s in outcome.select_trials(name)]
        places = {(labels.METHODS[t.method], f"{t.n_train} to train on, k = {t.k}"): s for t, s in trials}
        title = f"{labels.SETS[name]}: {study.class_size} training and test images per class"
        blocks += _arrange(places, "method", title)
    warning = describe_missing_baselines(outcome.setup)
    return Section("Robustness: few training images, distorted", blocks, figures, warning)


def describe_missing_baselines(setup: Mapping[str, Any]) -> str:
    """Say which baselines are omitted because a library is missing, and how to install it; empty if there are none."""
    omitted = {name: library for name, library in baselines.LIBRARIES.items() if setup.get(library, "") is None}
    texts = []
    if omitted:
        methods = "; ".join(labels.METHODS[name] for name in omitted)
        texts.append(_describe_omitted(methods, dict.fromkeys(omitted.values()), "reproduce"))
    if missing := [package for package in networks.PACKAGES if setup.get(package, "") is None]:
        texts.append(_describe_omitted("networks", missing, "deep"))
    return " ".join(texts)


def _describe_omitted(methods: str, libraries: Collection[str], extra: str) -> str:
    verb = "is" if len(libraries) == 1 else "are"
    return f"Omitted: {methods}. {' and '.join(libraries)} {verb} not installed: pip install 'radoncdt[{extra}]'"


def _make_grid(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Grid:
    return Grid(header, [_make_row(*(text.replace("`", "") for text in row)) for row in rows], title)


def _show_few_shot(outcome: Outcome, figures: Sequence[str]) -> Section:
    """Show the accuracy over the number of examples, the time, and where other methods are better."""
    records = few_shot_tables.list_records(outcome)
    blocks: list[str | Grid] = [_FEW_SHOT]
    if omitted := describe_missing_baselines(outcome.setup):
        blocks.append(omitted)
    for dataset, title in few_shot_tables.SET_LABELS.items():
        if any(record["dataset"] == dataset for record in records):
            blocks.append(_make_grid(*few_shot_tables.list_accuracies(records, dataset), title))
    blocks.append(_FEW_SHOT_TIME)
    blocks.append(_make_grid(*few_shot_tables.list_times(records, "digits"), "Ten digits, 500 test images, seconds"))
    blocks.append(_WINS)
    blocks += few_shot_tables.describe_wins(records)
    return Section("Accuracy over the number of examples", blocks, figures)


def _arrange(
    places: Mapping[tuple[str, str], Summary[Measurand]], corner: str, title: str, draws: int = 1
) -> list[Grid]:
    """Arrange summaries in a grid by the names of their rows and columns; nothing if there are none."""
    columns = list(dict.fromkeys(column for _, column in places))
    rows = [
        [GridEntry(row), *(make_entry(places.get((row, column)), draws) for column in columns)]
        for row in dict.fromkeys(row for row, _ in places)
    ]
    return [Grid([corner, *columns], rows, title)] if rows else []


def make_entry(summary: Summary[Measurand] | None, draws: int = 1) -> GridEntry:
    """Make the entry of a summary that should have this number of draws."""
    if summary is None:
        return GridEntry("–")
    lines = []
    if summary.std_between_draws is not None:
        lines.append(f"draws ± {summary.std_between_draws:.3f}")
    if summary.draws < draws:
        lines.append(f"{summary.draws} of {draws} draws")
    if summary.paper is not None:
        source = "authors" if isinstance(summary.measurand, Trial) else "paper"
        lines.append(f"{source} {format_printed(summary.paper)}")
        lines.append(format_difference(summary.difference, summary.standard_errors))
    if summary.fold_maximum is not None:
        lines.append(f"max of folds {summary.fold_maximum:.3f}")
        if summary.paper is not None:
            errors = summary.fold_maximum_standard_errors
            lines.append(format_difference(summary.fold_maximum_difference, errors))
    if summary.ties:
        lines.append(f"ties {summary.ties:.1%}")
    return GridEntry(format_figure(summary.mean, summary.std), lines, summary.flag)
