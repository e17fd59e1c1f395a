"""Table 3: linear support vector machines for two classes of symbols."""

from radoncdt import datasets
from radoncdt.reproduction import folds, paper
from radoncdt.reproduction.protocol import Table

TABLE = Table(
    name="table3",
    caption="Table 3: accuracy of linear support vector machines, academic dataset",
    classifier="svm",
    classes={"academic": ("circle-star1", "square-star4")},
    distribution=datasets.WIDE,
    angles=paper.TABLE_3_ANGLES,
    sizes={"academic": paper.TABLE_3_SIZES},
    columns=paper.svm_columns,
    run=folds.run,
)
