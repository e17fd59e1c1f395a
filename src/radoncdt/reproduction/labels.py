"""Names of datasets, features and methods in tables and figures, and how numbers are written."""

from radoncdt.reproduction.measurement import Printed
from radoncdt.reproduction.protocol import Cell

__all__ = [
    "DATASETS",
    "FEATURES",
    "METHODS",
    "NORMS",
    "PROTOCOLS",
    "SETS",
    "TABLES",
    "VARIED",
    "find_row",
    "format_difference",
    "format_figure",
    "format_printed",
    "format_printed_mean",
    "label_column",
    "label_row",
]

DATASETS = {"academic": "academic", "linmnist": "LinMNIST"}
NORMS = {"inf": "‖·‖∞", "2": "‖·‖₂"}
FEATURES = {"euclidean": "Euclidean", "rcdt": "R-CDT", "mnrcdt": "mNR-CDT"}
TABLES = {
    "table2": "Table 2: accuracy of the nearest reference, one for each class",
    "table3": "Table 3: accuracy of linear support vector machines, academic dataset",
    "table4": "Table 4: accuracy of linear support vector machines, LinMNIST",
}
PROTOCOLS = {
    "published": "As published: the classes share their maps, and LinMNIST has ten maps for all images",
    "independent": "Independent: every image has its own map",
}
SETS = {"aff": "aff", "elastic": "elastic", "salt": "salt", "all": "all", "linmnist10": "LinMNIST-10"}
METHODS = {
    "pixels": "pixels",
    "rcdt": "R-CDT",
    "mnrcdt": "mNR-CDT",
    "anrcdt": "aNR-CDT",
    "max_whitened": "max, whitened directions",
    "mean_whitened": "mean, whitened directions",
    "sorted": "sorted, whitened directions",
    "fourier": "Fourier, whitened directions",
    "registered": "registered",
    "unmirrored": "registered, mirror images distinguished",
    "robust": "robust, registered",
    "hu": "Hu moments",
    "zernike": "Zernike moments, whitened image",
    "hog": "HOG, whitened image",
}
VARIED = {"dots": "discs of salt in an image", "amplitude": "amplitude of the waves, in pixels"}


def label_column(cell: Cell) -> str:
    """Return the name of a cell's column in its table, as in the paper."""
    if cell.norm is not None:
        return f"{DATASETS[cell.dataset]} {NORMS[cell.norm]}"
    return FEATURES[cell.feature] + (f" {cell.n_angles}" if cell.n_angles is not None else "")


def find_row(cell: Cell) -> int:
    """Return the row of a cell in its table: a number of angles in Table 2, a class size in Tables 3 and 4."""
    return cell.class_size if cell.norm is None else cell.n_angles or 0


def label_row(cell: Cell) -> str:
    """Return the row of a cell in words."""
    return f"class size {cell.class_size:,}" if cell.norm is None else f"{cell.n_angles} angles"


def format_figure(mean: float, std: float | None, digits: int = 3) -> str:
    """Format a mean and its standard deviation as the paper prints them."""
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if std is not None else "")


def format_printed(paper: Printed | None) -> str:
    """Format the paper's figure."""
    return format_figure(paper.mean, paper.std, paper.digits) if paper else "–"


def format_printed_mean(paper: Printed | None) -> str:
    """Format the paper's mean without its standard deviation."""
    return f"{paper.mean:.{paper.digits}f}" if paper else "–"


def format_difference(value: float | None, standard_errors: float | None) -> str:
    """Format a difference, also in standard errors."""
    if value is None:
        return ""
    if standard_errors is None:
        return f"{value:+z.3f}"
    many = f"{standard_errors:+.1f}" if abs(standard_errors) < 10 else ("> 10" if standard_errors > 0 else "< -10")
    return f"{value:+z.3f} ({many} s.e.)" if value else "equal"
