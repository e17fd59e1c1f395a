"""What things are called in tables and figures."""

DATASETS = {"academic": "academic", "linmnist": "LinMNIST"}
NORMS = {"inf": "‖·‖∞", "2": "‖·‖₂"}
FEATURES = {"euclidean": "Euclidean", "rcdt": "R-CDT", "mnrcdt": "mNR-CDT"}
PROTOCOLS = {
    "published": "As published: the classes share their maps, and the images of LinMNIST ten of them",
    "independent": "Independent: every image has a map of its own",
}
