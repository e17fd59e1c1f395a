"""Table 4: linear support vector machines for the digits 1 and 7."""

from radoncdt import datasets
from radoncdt.reproduction import folds, paper
from radoncdt.reproduction.protocol import Table

TABLE = Table(
    name="table4",
    caption="Table 4: accuracy of linear support vector machines, LinMNIST",
    classifier="svm",
    classes={"linmnist": (1, 7)},
    distribution=datasets.WIDE,
    angles=paper.TABLE_4_ANGLES,
    sizes={"linmnist": paper.TABLE_4_SIZES},
    columns=paper.svm_columns,
    run=folds.run,
)
