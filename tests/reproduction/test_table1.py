"""Table 1, checked numerically."""

from radoncdt.reproduction.table1 import check_table1


def test_table_1_holds_except_for_the_slip():
    *others, printed, mended, other = check_table1(3)
    assert printed.transformation == "vertical shear, as printed"
    assert not printed.holds
    assert printed.points_error > 1
    assert printed.image_error > 1
    for check in (*others, mended, other):
        assert check.holds
        assert check.points_error < 1e-12
        assert check.image_error < 0.2
        assert check.image_root_mean_square < 0.03
