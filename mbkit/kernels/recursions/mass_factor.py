"""The mass matrix as L^T D L with the sparsity of the tree, and solutions by the factor.

Columns are velocities in the order of the bodies, which is depth-first (`BODY.first_column`).
The parent of a column is the one before it in the same joint, for a joint's first column the last
one of the joint inward of it, and -1 at the world: parent[k] < k. Two velocities act on a common
body only where one column is an ancestor of the other; everywhere else M, L and all that is done
with them is zero.
"""

from mbkit.kernels.compile import floats, helper, int64, integers, kernel, matrix
from mbkit.kernels.layout import SCREW
from mbkit.kernels.recursions.inertias import NEGLIGIBLE, add_rigid_to_parent, copy_rigid
from mbkit.kernels.recursions.joint_pass import checked_joint_pass
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, WRONG_LENGTH, failure
from mbkit.kernels.validation import check_columns
from mbkit.kernels.vectors import angular, dot, linear
from mbkit.kernels.workspace import at_rest, bodies, scratch_of


@helper
def set_columns(model, order, parent):
    """The velocity of each column, and its parent."""
    for i in range(1, model.shape[0]):
        row = model[i]
        inner = model[row.parent]
        for c in range(row.num_velocities):
            k = row.first_column + c
            order[k] = row.first_velocity + c
            parent[k] = k - 1
        if row.parent == 0:
            parent[row.first_column] = -1
        else:
            parent[row.first_column] = inner.first_column + inner.num_velocities - 1


@helper
def inertia_scale(row, body, c):
    """|S|^2 tr(I) of a column of a joint, angular and linear parts apart."""
    if row.kind == SCREW:
        w2 = row.rate * row.rate
        u2 = row.lead * row.lead
    else:
        S = body.S[c]
        w2 = dot(angular(S), angular(S))
        u2 = dot(linear(S), linear(S))
    return w2 * (body.moment[0] + body.moment[3] + body.moment[5]) + 3.0 * u2 * body.mass


@helper
def gather(M, order, parent, L):
    """Copy the entries of M between a column and itself or an ancestor into the lower half of L."""
    for k in range(order.shape[0]):
        j = k
        while j >= 0:
            L[k, j] = M[order[k], order[j]]
            j = parent[j]


@helper
def eliminate(L, parent, k, limit):
    """Row k of L and D_k = L_kk, once all columns beyond k are eliminated.

    With a = M_ki / M_kk for each ancestor i of k: M_ij -= a M_kj for j = i and each ancestor j of
    i, then L_ki = a. From k inwards, so that what is still needed of row k is unchanged.
    """
    pivot = L[k, k]
    if not pivot > limit:
        return SINGULAR_INERTIA if pivot <= limit else NOT_FINITE
    i = parent[k]
    while i >= 0:
        a = L[k, i] / pivot
        j = i
        while j >= 0:
            L[i, j] -= a * L[k, j]
            j = parent[j]
        L[k, i] = a
        i = parent[i]
    return OK


@kernel(int64(int64, floats, matrix, matrix, integers, integers))
def factorise(space, q, M, L, order, parent):
    """L and D with M = L^T D L, both M and the factor in the order of the columns.

    Reads   model, q, M(q) (nv, nv) by velocity.
    Writes  order, parent (nv,); L (nv, nv) at and below the diagonal, where a column meets its
            ancestors: L there, D on the diagonal. The rest of L is left as it is.
    Needs   no memory and no fill-in; O(nv depth^2).
    Source  Featherstone 2005; Featherstone 2008, section 6.5. The test of the pivot is added.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    status = check_columns(model, M, nv)
    if status == OK:
        status = check_columns(model, L, nv)
    if status == OK and (order.shape[0] != nv or parent.shape[0] != nv):
        status = WRONG_LENGTH
    if status == OK:
        status = checked_joint_pass(model, scratch, q, at_rest(space))
    if status != OK:
        return status
    set_columns(model, order, parent)
    gather(M, order, parent, L)
    for i in range(1, model.shape[0]):
        copy_rigid(scratch[i], model[i])
    # from the tips to the world: eliminate a joint's columns; composite inertias, to compare with
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        for c in range(row.num_velocities - 1, -1, -1):
            k = row.first_column + c
            code = eliminate(L, parent, k, NEGLIGIBLE * inertia_scale(row, body, c))
            if code != OK:
                return failure(code, order[k])
        if row.parent != 0:
            add_rigid_to_parent(body, body.R, body.p, scratch[row.parent])
    return OK


# ---------------------------------------------------- products and solutions, in place, by columns
#
# X (nv, m) has m vectors side by side. Source: Featherstone 2008, section 6.5.


@helper
def add_ancestors(L, parent, X, i, sign):
    """X_i += sign L_ij X_j of all ancestors j."""
    j = parent[i]
    while j >= 0:
        for c in range(X.shape[1]):
            X[i, c] += sign * L[i, j] * X[j, c]
        j = parent[j]


@helper
def add_to_ancestors(L, parent, X, i, sign):
    """X_j += sign L_ij X_i for all ancestors j."""
    j = parent[i]
    while j >= 0:
        for c in range(X.shape[1]):
            X[j, c] += sign * L[i, j] * X[i, c]
        j = parent[j]


@helper
def fits(L, parent, X):
    """Return OK if all have one row a column."""
    n = parent.shape[0]
    good = L.shape[0] == n and L.shape[1] == n and X.shape[0] == n
    return OK if good else WRONG_LENGTH


@helper
def solve_lower(L, parent, X):
    """L^-1 X, from the world outwards."""
    for i in range(parent.shape[0]):
        add_ancestors(L, parent, X, i, -1.0)


@helper
def solve_upper(L, parent, X):
    """L^-T X, from the tips inwards."""
    for i in range(parent.shape[0] - 1, -1, -1):
        add_to_ancestors(L, parent, X, i, -1.0)


@kernel(int64(matrix, integers, matrix))
def solve_L(L, parent, X):
    """L^-1 X."""
    status = fits(L, parent, X)
    if status == OK:
        solve_lower(L, parent, X)
    return status


@kernel(int64(matrix, integers, matrix))
def solve_LT(L, parent, X):
    """L^-T X."""
    status = fits(L, parent, X)
    if status == OK:
        solve_upper(L, parent, X)
    return status


@kernel(int64(matrix, integers, matrix))
def solve(L, parent, X):
    """M^-1 X = L^-1 D^-1 L^-T X. Cost: O(nv depth) a vector."""
    status = fits(L, parent, X)
    if status != OK:
        return status
    solve_upper(L, parent, X)
    for i in range(parent.shape[0]):
        scale = 1.0 / L[i, i]
        for c in range(X.shape[1]):
            X[i, c] *= scale
    solve_lower(L, parent, X)
    return OK


@kernel(int64(matrix, integers, matrix))
def multiply(L, parent, X):
    """M X = L^T D L X. Cost: O(nv depth) a vector."""
    status = fits(L, parent, X)
    if status != OK:
        return status
    # L X, from the tips inwards: ancestors still are what they were
    for i in range(parent.shape[0] - 1, -1, -1):
        add_ancestors(L, parent, X, i, 1.0)
        for c in range(X.shape[1]):
            X[i, c] *= L[i, i]
    # L^T of that, from the world outwards: what is beyond still is what it was
    for i in range(parent.shape[0]):
        add_to_ancestors(L, parent, X, i, 1.0)
    return OK
