"""What the report says: blocks of text, tables and figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from radoncdt.reproduction import figures, names, rivals, robustness
from radoncdt.reproduction.cells import Cell, Printed, Result
from radoncdt.reproduction.run import PARTS, TABLES, Outcome
from radoncdt.reproduction.trials import TrialResult

NOTABLE = 2.0
"""Standard errors from which a difference is marked."""

ENTRIES = (
    "The first line of an entry is our accuracy: the mean over {draws} unless another number is given, ± the standard "
    "deviation within a draw (over folds or references, averaged over the draws). Below it are the standard deviation "
    "between draws, the paper's figure, and the difference, ours minus the paper's, with its size in standard errors. "
    "The paper prints one draw, rounded, and ours is a mean. If both did the same, the variance of the difference "
    "would be the variance between draws times 1 + 1/{n}, plus the variance of rounding. If the draws agree exactly, "
    "only rounding error remains. For the published protocol, differences of at least {notable:g} standard errors are "
    "marked: bold in Markdown, coloured in HTML."
)

TIES = (
    "The decision rule of the support vector machines is that of scikit-learn: a score greater than 0 means the second "
    "class, any other score the first. “ties” is the share of the test samples whose score is exactly 0. These samples "
    "have nothing in common with the weights, and all of them are assigned to the first class. Entries without this "
    "line have no ties."
)

TITLE = "The experiments of the paper, run by radoncdt"

PAPER = (
    "Beckmann, Beinert, Bresch: Max-Normalized Radon Cumulative Distribution Transform for Limited Data "
    "Classification (SSVM 2025, arXiv 2411.16282), Tables 1 to 4 and Figures 2 to 4."
)

FOLD_MAXIMUM = (
    "The R-CDT columns of the paper's Table 4 are the largest of the ten folds, not their mean: for class sizes 10, 20 "
    "and 50 each is a multiple of one over the number of test images. Both are given, and “max of folds” is the one to "
    "compare."
)

ROBUSTNESS = (
    "Beckmann, Beinert, Bresch: Normalized Radon Cumulative Distribution Transforms for Invariance and Robustness in "
    "Optimal Transport Based Image Classification (arXiv 2506.08761). A set is drawn once; {repetitions} choose at "
    "random which images of each class train, and the others are tested, the same ones for all methods. The k nearest "
    "training images vote; of classes with equally many votes the first in the order of labels wins. An entry has "
    "the mean ± the standard deviation over the repetitions, then the authors' mean of 20 with a set of their own, "
    "where they have one, and the difference, ours minus theirs. The authors' images of salt and all had no shear. "
    "Maps may take a symbol over the border of the canvas, where it is cut off, or comes in on the other side: a few "
    "images of aff and elastic are no affine copies for that."
)

METHODS = (
    "All transforms have {n_angles} directions on the half circle and {n_levels} levels, the same for all sets. R-CDT, "
    "mNR-CDT and aNR-CDT are the authors': equispaced directions, levels k/(n + 1), mean and standard deviation over "
    "the levels. The others are ours: whitened directions, exact moments; “robust, registered” has the moments of a "
    "Student t distribution with 3 degrees of freedom, and leaves out a sixteenth of the levels at either end. "
    "Features are compared by their Euclidean distance."
)

RIVALS = (
    "Rivals of other libraries: Hu moments as sign(h)·log10|h|, standardised on the training images; Zernike moments "
    "up to degree {degree} and HOG (9 orientations, cells of 16 pixels, blocks of 2 × 2 cells) of the image after "
    "whitening, on {side} × {side} pixels, 3 standard deviations from the middle to the border; that is the radius of "
    "the Zernike moments."
)


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table."""

    lines: Sequence[str]
    strong: bool = False
    """Whether the first line is set off."""
    mark: int = 0
    """−1 or 1 if it is notably less or more than the paper's."""


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    text: str
    warning: bool = False


@dataclass(frozen=True)
class Grid:
    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]


@dataclass(frozen=True)
class Picture:
    name: str
    caption: str


Block = Heading | Text | Grid | Picture


# ---------------------------------------------------------------- what there is to say


def blocks(outcome: Outcome, pictures: Sequence[str]) -> list[Block]:
    """The report, block by block."""
    page: list[Block] = [Heading(TITLE, 1)]
    if outcome.missing:
        page.append(Text(f"This report is partial: {outcome.missing:,} measurements are missing.", warning=True))
    if set(outcome.choice.parts) & set(PARTS):
        page.append(Text(PAPER))
    page += [Heading("Set-up"), _setup(outcome)]
    if outcome.checks:
        page += _table1(outcome)
    if outcome.results:
        n = outcome.choice.draws
        draws = f"{n} random draws" if n > 1 else "1 random draw"
        page += [Heading("Tables 2 to 4"), Text(ENTRIES.format(draws=draws, n=n, notable=NOTABLE))]
    for name, table in TABLES.items():
        chosen = [protocol for protocol in outcome.choice.protocols if outcome.of(name, protocol)]
        if chosen:
            page.append(Heading(table.caption))
        if table.classifier == "svm" and chosen:
            page.append(Text(TIES))
        if name == "table4" and chosen:
            page.append(Text(FOLD_MAXIMUM))
        for protocol in chosen:
            page += [Heading(names.PROTOCOLS[protocol], 3), _results(outcome.of(name, protocol), outcome.choice.draws)]
        page += [Picture(picture, figures.caption(picture)) for picture in pictures if picture.endswith(name)]
    if outcome.comparisons:
        page += _variants(outcome)
    if "robustness" in outcome.choice.parts:
        page += _robustness(outcome, pictures)
    shown = [picture for picture in pictures if picture.startswith("figure")]
    if shown:
        page += [Heading("Figures"), *(Picture(picture, figures.caption(picture)) for picture in shown)]
    page += [Heading("Time"), _time(outcome)]
    return page


def _setup(outcome: Outcome) -> Grid:
    choice, setup = outcome.choice, outcome.setup
    rows: dict[str, Any] = {"parts": ", ".join(choice.parts), "seed": choice.seed}
    if set(choice.parts) & set(PARTS):
        sizes = ", ".join(map(str, choice.sizes or ())) or "the paper's, up to the digits at hand"
        rows |= {
            "protocols": ", ".join(choice.protocols),
            "random draws": choice.draws,
            "angles": ", ".join(map(str, choice.angles or ())) or "the paper's",
            "class sizes": sizes,
        }
    if "robustness" in choice.parts:
        rows["repetitions"] = choice.repetitions
    rows |= {
        "digits": setup["digits_source"] or "not needed",
        "digits, SHA-256": setup["digits"] or "–",
        "radoncdt": f"{setup['radoncdt']}, sources {setup['sources']}",
        **{name: setup[name] for name in ("kernels", "python", "numpy", "scipy", "scikit-learn")},
    }
    if "robustness" in choice.parts:
        rows |= {library: setup[library] or "not installed" for library in rivals.versions()}
    return Grid(["", ""], [[Entry([key]), Entry([str(value)])] for key, value in rows.items()])


def _table1(outcome: Outcome) -> list[Block]:
    text = (
        "Both sides of every row, compared by their quantile functions in 64 directions at 64 levels, for a cloud of "
        "random points, which moves without error, and for a drawn symbol, which is sampled again. Figures are in "
        "pixels, and rows that do not hold for the points are marked. The printed row of the vertical shear is a slip: "
        "its right-hand side belongs to the matrix (1 c; 0 1)."
    )
    header = ["transformation", "A", "y", "points, largest error", "image, largest error", "image, root mean square"]
    rows = []
    for check in outcome.checks:
        matrix = "; ".join(" ".join(f"{value:.2f}" for value in row) for row in check.matrix)
        shift = " ".join(f"{value:.2f}" for value in check.shift)
        errors = f"{check.points_error:.1e}", f"{check.image_error:.3f}", f"{check.image_root_mean_square:.3f}"
        entries = [Entry([text]) for text in (check.transformation, f"({matrix})", f"({shift})", *errors)]
        rows.append(entries if check.holds else [Entry(entry.lines, mark=-1) for entry in entries])
    return [Heading("Table 1: affine maps and the Radon transform"), Text(text), Grid(header, rows)]


def column(cell: Cell) -> str:
    """The column of a cell in its table, as in the paper."""
    if cell.norm is not None:
        return f"{names.DATASETS[cell.dataset]} {names.NORMS[cell.norm]}"
    return names.FEATURES[cell.feature] + (f" {cell.n_angles}" if cell.n_angles is not None else "")


def row(cell: Cell) -> int:
    """The row of a cell in its table, as in the paper: angles in Table 2, class sizes in Tables 3 and 4."""
    return cell.class_size if cell.norm is None else cell.n_angles or 0


def _results(results: Sequence[Result], draws: int) -> Grid:
    places = {(row(result.cell), column(result.cell)): result for result in results}
    columns = list(dict.fromkeys(column(result.cell) for result in results))
    label = "angles" if results[0].cell.norm is not None else "class size"
    rows = [
        [Entry([f"{r:,}"], strong=True), *(entry(places.get((r, c)), draws) for c in columns)]
        for r in dict.fromkeys(r for r, _ in places)
    ]
    return Grid([label, *columns], rows)


def figure(mean: float, std: float | None, digits: int = 3) -> str:
    """A figure as the paper prints it."""
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if std is not None else "")


def printed(paper: Printed | None) -> str:
    """The paper's figure."""
    return figure(paper.mean, paper.std, paper.digits) if paper else "–"


def difference(value: float | None, standard_errors: float | None) -> str:
    """A difference, and in standard errors."""
    if value is None:
        return ""
    if standard_errors is None:
        return f"{value:+.3f}"
    many = f"{standard_errors:+.1f}" if abs(standard_errors) < 10 else ("> 10" if standard_errors > 0 else "< -10")
    return f"{value:+.3f} ({many} s.e.)" if value else "equal"


def mark(standard_errors: float | None) -> int:
    """Whether that many standard errors are notable."""
    if standard_errors is None or round(abs(standard_errors), 1) < NOTABLE:
        return 0
    return 1 if standard_errors > 0 else -1


def entry(result: Result | None, draws: int) -> Entry:
    """The entry of a result that should have so many draws."""
    if result is None:
        return Entry(["–"])
    lines = [figure(result.mean, result.std)]
    if result.std_between_draws is not None:
        lines.append(f"draws ± {result.std_between_draws:.3f}")
    if result.draws < draws:
        lines.append(f"{result.draws} of {draws} draws")
    errors = result.standard_errors
    if result.paper is not None:
        lines += [f"paper {printed(result.paper)}", difference(result.difference, errors)]
    if result.fold_maximum is not None:
        lines.append(f"max of folds {result.fold_maximum:.3f}")
        errors = result.fold_maximum_standard_errors
        if result.paper is not None:
            lines.append(difference(result.fold_maximum_difference, errors))
    if result.ties:
        lines.append(f"ties {result.ties:.1%}")
    return Entry(lines, strong=True, mark=mark(errors) if result.cell.protocol == "published" else 0)


def _variants(outcome: Outcome) -> list[Block]:
    page: list[Block] = [
        Heading("What matters in the protocol"),
        Text(
            "Each table compares the same cells with a single change. The random draws are the same, except for the "
            "shared maps, where other maps are drawn."
        ),
    ]
    for variant, pairs in outcome.comparisons:
        if not pairs:
            continue
        header = [
            "table",
            "feature",
            "angles",
            "class size",
            "paper",
            variant.published,
            variant.otherwise,
            "difference",
        ]
        rows = []
        for published, otherwise in pairs:
            cell = published.cell
            feature = column(cell) if cell.norm else names.FEATURES[cell.feature]
            texts = [cell.table.removeprefix("table"), feature, str(cell.n_angles or "–"), f"{cell.class_size:,}"]
            texts += [printed(published.paper), f"{published.mean:.3f}", f"{otherwise.mean:.3f}"]
            rows.append([Entry([text]) for text in (*texts, f"{otherwise.mean - published.mean:+z.3f}")])
        page += [Heading(variant.title, 3), Grid(header, rows)]
    return page


def _robustness(outcome: Outcome, pictures: Sequence[str]) -> list[Block]:
    n = outcome.choice.repetitions
    page: list[Block] = [
        Heading("Robustness: few training images, distorted"),
        Text(ROBUSTNESS.format(repetitions=f"{n} repetitions" if n > 1 else "1 repetition")),
        Text(METHODS.format(n_angles=robustness.N_ANGLES, n_levels=robustness.N_LEVELS)),
        Text(RIVALS.format(degree=rivals.DEGREE, side=rivals.SIDE)),
    ]
    if missing := rivals.missing(outcome.setup):
        page.append(Text(missing, warning=True))
    shown = [name for name in pictures if name.startswith("robustness")]
    page += [Picture(name, figures.caption(name)) for name in shown if name.endswith("images")]
    for name, plan in robustness.PLANS.items():
        if results := outcome.trials_of(name):
            title = f"{names.SETS[name]}: {plan.class_size} images of each class, those to train on and those to test"
            page += [Heading(title, 3), _trials(results)]
    return page + [Picture(name, figures.caption(name)) for name in shown if name.endswith("curves")]


def _trials(results: Sequence[TrialResult]) -> Grid:
    """A row for each method, a column for each number of training images and of neighbours."""
    places = {(r.trial.method, r.trial.n_train, r.trial.k): r for r in results}
    columns = sorted({place[1:] for place in places})
    rows = [
        [Entry([names.METHODS[method]]), *(trial_entry(places.get((method, *column))) for column in columns)]
        for method in dict.fromkeys(method for method, _, _ in places)
    ]
    return Grid(["method", *(f"{n_train} to train on, k = {k}" for n_train, k in columns)], rows)


def trial_entry(result: TrialResult | None) -> Entry:
    """The entry of a result of the study of robustness."""
    if result is None:
        return Entry(["–"])
    lines = [figure(result.mean, result.std)]
    if result.authors is not None:
        lines += [f"authors {result.authors:.3f}", difference(result.difference, None)]
    return Entry(lines, strong=True)


def _time(outcome: Outcome) -> Grid:
    rows = [[Entry([step]), Entry([f"{seconds:.1f} s"])] for step, seconds in outcome.seconds.items()]
    return Grid(["step, all threads together", "time"], rows)
