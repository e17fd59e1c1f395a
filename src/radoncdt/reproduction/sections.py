"""The sections of the report as data: text, tables and figures. Templates turn them into HTML and Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from radoncdt.reproduction import baselines, labels, robustness, table1
from radoncdt.reproduction.figures import CAPTIONS
from radoncdt.reproduction.labels import format_count, format_difference, format_figure, format_printed
from radoncdt.reproduction.measurement import NOTABLE, Measurand, Summary, group_by
from radoncdt.reproduction.protocol import Cell
from radoncdt.reproduction.robustness import Trial
from radoncdt.reproduction.runner import PARTS, Outcome

__all__ = ["Entry", "Section", "describe_missing_baselines", "list_sections", "make_entry"]

_PAPER = (
    "Beckmann, Beinert, Bresch: Max-Normalized Radon Cumulative Distribution Transform for Limited Data "
    "Classification (SSVM 2025, arXiv 2411.16282), Tables 1 to 4 and Figures 2 to 4."
)
_AGREEMENT = (
    "The figures of the published protocol are compared with the paper's. They agree if they differ by less than "
    "{notable:g} standard errors, which are defined below."
)
_CHANCE = "With {draws}, about {share:.0%} of the differences would be larger by chance even if both measured the same."
_SINGLE_DRAW = "A single random draw has no standard error, so agreement cannot be judged."
_DIFFERENCES = (
    "The following figures do not agree. Rows are numbers of angles in Table 2 and class sizes in Tables 3 and 4."
)
_TABLE_1 = (
    "Both sides of every row are compared by their quantile functions in {n_angles} directions at {n_levels} levels, "
    "for a random point cloud, which moves exactly, and for a drawn symbol, which is resampled. Errors are in pixels. "
    "Rows that do not hold for the points are flagged. The printed row of the vertical shear is a slip: its right-hand "
    "side belongs to the matrix (1 c; 0 1)."
)
_ENTRIES = (
    "The first line of an entry is our accuracy: the mean over {draws} unless another number is given, ± the standard "
    "deviation within a draw (over folds or references, averaged over the draws). Below it are the standard deviation "
    "between draws, the paper's figure, and the difference, ours minus the paper's, with its size in standard errors. "
    "The paper prints one draw, rounded, and ours is a mean. If both measure the same, the variance of the difference "
    "is the variance between draws times 1 + 1/{n}, plus the variance of rounding. If the draws agree exactly, only "
    "rounding error remains. For the published protocol, differences of at least {notable:g} standard errors are "
    "flagged: bold in Markdown, coloured in HTML."
)
_TIES = (
    "The decision rule of the support vector machines is that of scikit-learn: a score greater than 0 means the second "
    "class, any other score the first. “ties” is the share of the test samples whose score is exactly 0. These samples "
    "have nothing in common with the weights, and all of them are assigned to the first class. Entries without this "
    "line have no ties."
)
_FOLD_MAXIMUM = (
    "The R-CDT columns of the paper's Table 4 are the largest of the ten folds, not their mean: for class sizes 10, 20 "
    "and 50 each is a multiple of one over the number of test images. Both are given, and “max of folds” is the one to "
    "compare."
)
_VARIANTS = (
    "Each table compares the same cells with a single change. The random draws are the same, except for the shared "
    "maps, where other maps are drawn."
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
    "All transforms have {n_angles} directions on the half circle and {n_levels} levels for all sets. R-CDT, mNR-CDT "
    "and aNR-CDT are the authors': equispaced directions, levels k/(n + 1), mean and standard deviation over the "
    "levels. The others are ours: whitened directions and exact moments. “robust, registered” uses the moments of a "
    "Student t distribution with 3 degrees of freedom and omits a sixteenth of the levels at either end. Features are "
    "compared by their Euclidean distance."
)
_BASELINES = (
    "Baselines from other libraries: Hu moments as sign(h)·log10|h|, standardised on the training images; Zernike "
    "moments up to degree {degree} and HOG (9 orientations, cells of 16 pixels, blocks of 2 × 2 cells) of the whitened "
    "image of {side} × {side} pixels, with 3 standard deviations from the middle to the border, which is also the "
    "radius of the Zernike moments."
)


class Entry(NamedTuple):
    """The content of one place in a grid."""

    lines: Sequence[str]
    is_strong: bool = False
    """Whether the first line is emphasised."""
    flag: int = 0
    """−1 or 1 for a figure that is notably smaller or larger than the paper's."""


class _Text(NamedTuple):
    text: str
    is_warning: bool = False
    kind: str = "text"


class _Subheading(NamedTuple):
    text: str
    kind: str = "subheading"


class _Grid(NamedTuple):
    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    kind: str = "grid"


class _Illustration(NamedTuple):
    name: str
    caption: str
    kind: str = "illustration"


_Block = _Text | _Subheading | _Grid | _Illustration


class Section(NamedTuple):
    """A titled part of the report."""

    title: str
    blocks: Sequence[_Block]

    @property
    def anchor(self) -> str:
        """The target of links to this section, formed as Markdown viewers form it."""
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")


def list_sections(outcome: Outcome, figures: Iterable[str]) -> list[Section]:
    """All sections of the report, with the figures that were drawn."""
    shown = [_Illustration(name, CAPTIONS[name]) for name in figures]
    sections = [_summarise(outcome), _describe_setup(outcome)]
    if outcome.checks:
        sections.append(_show_table1(outcome))
    tables = dict.fromkeys(summary.measurand.table for summary in outcome.cells)
    sections += [_show_table(name, outcome, [f for f in shown if f.name.endswith(name)]) for name in tables]
    if outcome.comparisons:
        sections.append(_show_variants(outcome))
    if "robustness" in outcome.choice.parts:
        sections.append(_show_robustness(outcome, [f for f in shown if f.name.startswith("robustness")]))
    if paper := [figure for figure in shown if figure.name.startswith("figure")]:
        sections.append(Section("Figures", [*paper]))
    times = [[Entry([step]), Entry([f"{seconds:.1f} s"])] for step, seconds in outcome.seconds.items()]
    return [*sections, Section("Time", [_Grid(["step, all threads together", "time"], times)])]


# ---------------------------------------------------------------- agreement with the paper


def _summarise(outcome: Outcome) -> Section:
    """Count the figures that agree with the paper's, and list those that do not."""
    blocks: list[_Block] = []
    if outcome.missing:
        text = f"This report is partial: {format_count(outcome.missing, 'measurement')} missing."
        blocks.append(_Text(text, is_warning=True))
    if set(outcome.choice.parts) & set(PARTS):
        blocks.append(_Text(_PAPER))
    if outcome.checks:
        failures = [f"{c.transformation} ({c.points_error:.0f} pixels)" for c in outcome.checks if not c.holds]
        text = f"Table 1: {len(outcome.checks) - len(failures)} of {len(outcome.checks)} rows hold up to rounding."
        blocks.append(_Text(text + (f" Rows with errors: {', '.join(failures)}." if failures else "")))
    compared = [s for s in outcome.cells if s.paper and s.measurand.is_as_published]
    if compared:
        blocks += _compare_cells(compared)
    authors = [s for s in outcome.trials if s.paper]
    if authors:
        blocks.append(_Text(_compare_trials(authors)))
    return Section("Summary", blocks)


def _compare_cells(cells: Sequence[Summary[Cell]]) -> list[_Block]:
    """Count and list differences of cells in the published protocol that the paper has as well."""
    from scipy.special import stdtr

    rows = []
    for group in group_by(cells, lambda s: s.measurand.table):
        judged = [s for s in group if s.standard_errors is not None]
        counts = [str(sum(s.flag == flag for s in judged)) if judged else "–" for flag in (0, 1, -1)]
        worst = max(group, key=lambda s: abs(_subtract(s)))
        place = f"{labels.label_column(worst.measurand)}, {labels.label_row(worst.measurand)}"
        table = f"Table {worst.measurand.table[-1]}"
        rows.append(_make_row(table, str(len(judged or group)), *counts, f"{_subtract(worst):+z.3f} ({place})"))
    header = ["", "figures compared", "agree", "ours higher", "ours lower", "largest difference"]
    n = max(s.draws for s in cells)
    chance = _SINGLE_DRAW
    if n > 1:  # normal variables differ from the mean of n others by Student's t with n − 1 degrees, in standard errors
        chance = _CHANCE.format(draws=format_count(n, "draw"), share=2 * stdtr(n - 1, -NOTABLE))
    blocks: list[_Block] = [_Text(f"{_AGREEMENT.format(notable=NOTABLE)} {chance}"), _Grid(header, rows)]
    groups = group_by(cells, lambda s: (s.measurand.table, labels.label_column(s.measurand)))
    differing = [_list_differences(group, flag) for group in groups for flag in (1, -1)]
    if any(differing):
        header = ["", "column", "ours", "row: ours (paper)"]
        blocks += [_Text(_DIFFERENCES), _Grid(header, [row for row in differing if row])]
    return blocks


def _list_differences(cells: Sequence[Summary[Cell]], flag: int) -> list[Entry]:
    """A row that lists the flagged cells of a column; empty if there are none."""
    texts = [f"{labels.find_row(s.measurand)}: {s.ours:.3f} ({_format_paper(s)})" for s in cells if s.flag == flag]
    place = f"Table {cells[0].measurand.table[-1]}", labels.label_column(cells[0].measurand)
    return [*_make_row(*place, "higher" if flag > 0 else "lower"), Entry(texts, flag=flag)] if texts else []


def _compare_trials(trials: Sequence[Summary[Trial]]) -> str:
    """Compare the accuracies of the robustness study with the authors'."""
    worst = max(trials, key=lambda s: abs(_subtract(s)))
    trial, average = worst.measurand, sum(abs(_subtract(s)) for s in trials) / len(trials)
    return (
        f"Robustness: {format_count(len(trials), 'figure')} can be compared with the authors'. The mean absolute "
        f"difference is {average:.3f}. The largest is {_subtract(worst):+z.3f}, for {labels.METHODS[trial.method]} on "
        f"the set {labels.SETS[trial.dataset]} with {trial.n_train} training images per class: ours {worst.mean:.3f}, "
        f"theirs {_format_paper(worst)}."
    )


def _subtract(summary: Summary[Measurand]) -> float:
    """Our figure minus the paper's, of a summary that has both."""
    return summary.ours - (summary.paper_mean or 0.0)


def _format_paper(summary: Summary[Measurand]) -> str:
    return f"{summary.paper.mean:.{summary.paper.digits}f}" if summary.paper else "–"


# ---------------------------------------------------------------- the parts


def _make_row(*texts: str, flag: int = 0) -> list[Entry]:
    return [Entry([text], flag=flag) for text in texts]


def _describe_setup(outcome: Outcome) -> Section:
    choice, setup = outcome.choice, outcome.setup
    values: dict[str, Any] = {"parts": ", ".join(choice.parts), "seed": choice.seed}
    if set(choice.parts) & set(PARTS):
        values |= {
            "protocols": ", ".join(choice.protocols),
            "random draws": choice.draws,
            "angles": ", ".join(map(str, choice.angles or ())) or "the paper's",
            "class sizes": ", ".join(map(str, choice.sizes or ())) or "the paper's, up to the digits at hand",
        }
    if "robustness" in choice.parts:
        values["repetitions"] = choice.repetitions
    values |= {
        "digits": setup["digits_source"] or "not needed",
        "digits, SHA-256": setup["digits"] or "–",
        "radoncdt": f"{setup['radoncdt']}, sources {setup['sources']}",
        **{name: setup[name] for name in ("kernels", "python", "numpy", "scipy", "scikit-learn")},
    }
    if "robustness" in choice.parts:
        values |= {library: setup[library] or "not installed" for library in baselines.find_versions()}
    return Section("Set-up", [_Grid(["", ""], [_make_row(name, str(value)) for name, value in values.items()])])


def _show_table1(outcome: Outcome) -> Section:
    header = ["transformation", "A", "y", "points, largest error", "image, largest error", "image, root mean square"]
    rows = []
    for check in outcome.checks:
        matrix = "; ".join(" ".join(f"{value:.2f}" for value in row) for row in check.matrix)
        shift = " ".join(f"{value:.2f}" for value in check.shift)
        errors = f"{check.points_error:.1e}", f"{check.image_error:.3f}", f"{check.image_root_mean_square:.3f}"
        rows.append(
            _make_row(check.transformation, f"({matrix})", f"({shift})", *errors, flag=0 if check.holds else -1)
        )
    text = _TABLE_1.format(n_angles=table1.N_ANGLES, n_levels=table1.N_LEVELS)
    return Section("Table 1: affine maps and the Radon transform", [_Text(text), _Grid(header, rows)])


def _show_table(name: str, outcome: Outcome, figures: Sequence[_Illustration]) -> Section:
    """One of the Tables 2, 3 and 4. The first one explains the entries, and the first one with ties explains them."""
    blocks: list[_Block] = []
    n = outcome.choice.draws
    if outcome.cells[0].measurand.table == name:
        blocks.append(_Text(_ENTRIES.format(draws=format_count(n, "random draw"), n=n, notable=NOTABLE)))
    if next((s.measurand.table for s in outcome.cells if s.measurand.has_ties), "") == name:
        blocks.append(_Text(_TIES))
    if name == "table4":
        blocks.append(_Text(_FOLD_MAXIMUM))
    for protocol in outcome.choice.protocols:
        if cells := outcome.select_cells(name, protocol):
            blocks += [_Subheading(labels.PROTOCOLS[protocol]), _show_cells(cells, n)]
    return Section(labels.TABLES[name], [*blocks, *figures])


def _show_cells(cells: Sequence[Summary[Cell]], draws: int) -> _Grid:
    places = {(labels.find_row(s.measurand), labels.label_column(s.measurand)): s for s in cells}
    columns = list(dict.fromkeys(column for _, column in places))
    first = "angles" if cells[0].measurand.norm is not None else "class size"
    rows = [
        [Entry([f"{row:,}"], is_strong=True), *(make_entry(places.get((row, column)), draws) for column in columns)]
        for row in dict.fromkeys(row for row, _ in places)
    ]
    return _Grid([first, *columns], rows)


def make_entry(summary: Summary[Measurand] | None, draws: int = 1, source: str = "paper") -> Entry:
    """The entry of a summary that should have this number of draws; `source` names the origin of the other figure."""
    if summary is None:
        return Entry(["–"])
    lines = [format_figure(summary.mean, summary.std)]
    if summary.std_between_draws is not None:
        lines.append(f"draws ± {summary.std_between_draws:.3f}")
    if summary.draws < draws:
        lines.append(f"{summary.draws} of {draws} draws")
    if summary.paper is not None:
        difference = format_difference(summary.difference, summary.standard_errors)
        lines += [f"{source} {format_printed(summary.paper)}", difference]
    if summary.fold_maximum is not None:
        lines.append(f"max of folds {summary.fold_maximum:.3f}")
        if summary.paper is not None:
            errors = summary.fold_maximum_standard_errors
            lines.append(format_difference(summary.fold_maximum_difference, errors))
    if summary.ties:
        lines.append(f"ties {summary.ties:.1%}")
    return Entry(lines, is_strong=True, flag=summary.flag)


def _show_variants(outcome: Outcome) -> Section:
    blocks: list[_Block] = [_Text(_VARIANTS)]
    for variant, pairs in outcome.comparisons:
        header = ["table", "feature", "angles", "class size", "paper"]
        rows = []
        for published, otherwise in pairs:
            cell = published.measurand
            feature = labels.label_column(cell) if cell.norm else labels.FEATURES[cell.feature]
            place = cell.table.removeprefix("table"), feature, str(cell.n_angles or "–"), f"{cell.class_size:,}"
            figures = format_printed(published.paper), f"{published.mean:.3f}", f"{otherwise.mean:.3f}"
            rows.append(_make_row(*place, *figures, f"{otherwise.mean - published.mean:+z.3f}"))
        if rows:
            header += [variant.published, variant.otherwise, "difference"]
            blocks += [_Subheading(variant.title), _Grid(header, rows)]
    return Section("What matters in the protocol", blocks)


def _show_robustness(outcome: Outcome, figures: Sequence[_Illustration]) -> Section:
    repetitions = format_count(outcome.choice.repetitions, "repetition")
    blocks: list[_Block] = [
        _Text(_ROBUSTNESS.format(repetitions=repetitions)),
        _Text(_METHODS.format(n_angles=robustness.N_ANGLES, n_levels=robustness.N_LEVELS)),
        _Text(_BASELINES.format(degree=baselines.MAX_DEGREE, side=baselines.SIDE)),
    ]
    if missing := describe_missing_baselines(outcome.setup):
        blocks.append(_Text(missing, is_warning=True))
    blocks += [figure for figure in figures if figure.name.endswith("images")]
    for name, plan in robustness.PLANS.items():
        if trials := outcome.select_trials(name):
            title = f"{labels.SETS[name]}: {plan.class_size} training and test images per class"
            blocks += [_Subheading(title), _show_trials(trials)]
    blocks += [figure for figure in figures if figure.name.endswith("curves")]
    return Section("Robustness: few training images, distorted", blocks)


def describe_missing_baselines(setup: Mapping[str, Any]) -> str:
    """Which baselines a study omits because a library is missing, and how to install it; empty if there are none."""
    omitted = [name for name, library in baselines.LIBRARIES.items() if setup.get(library, "") is None]
    if not omitted:
        return ""
    methods = "; ".join(labels.METHODS[name] for name in omitted)
    libraries = " and ".join(dict.fromkeys(baselines.LIBRARIES[name] for name in omitted))
    verb = "is" if " and " not in libraries else "are"
    return f"Omitted: {methods}. {libraries} {verb} not installed: pip install 'radoncdt[reproduce]'"


def _show_trials(trials: Sequence[Summary[Trial]]) -> _Grid:
    """One row per method, one column per number of training images and of neighbours."""
    places = {(s.measurand.method, s.measurand.n_train, s.measurand.k): s for s in trials}
    columns = sorted({place[1:] for place in places})
    rows = [
        [
            Entry([labels.METHODS[method]]),
            *(make_entry(places.get((method, *column)), source="authors") for column in columns),
        ]
        for method in dict.fromkeys(method for method, _, _ in places)
    ]
    return _Grid(["method", *(f"{n_train} to train on, k = {k}" for n_train, k in columns)], rows)
