# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is taken out of the product, one at a time, and the tests that must then fail.

Each is an exact replacement that fits exactly one place: when the code moves, the check says so and does not pass by.
The code that is left runs; it only lacks its guard. So no test fails for want of a name, but for what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

_CORE = "plugins/module_utils/_core"
_STORE = "tests/integration/store"
_GIVING_BACK = "tests/integration/reconcile/test_giving_back.py"
_INTENT = "tests/integration/reconcile/test_intent_first.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Text of one file that another text takes the place of.

    Attributes:
        file: relative to the checkout.
        old: stands in the file exactly once.
    """

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One promise taken out.

    Attributes:
        name: what does not hold any more.
        guards: pytest's names of the tests that must fail.
    """

    name: str
    edits: tuple[Edit, ...]
    guards: tuple[str, ...]


def _mutation(name: str, file: str, old: str, new: str, *guards: str) -> Mutation:
    return Mutation(name=name, edits=(Edit(file=f"{_CORE}/{file}", old=old, new=new),), guards=guards)


_UNFENCED = (
    _mutation(
        "a pass's write asks for no lease",
        "store/unit_of_work.py",
        "                _guard(tx, lease)\n",
        "                pass\n",
        f"{_STORE}/test_leases.py::test_a_holder_whose_lease_was_taken_over_writes_nothing",
        f"{_INTENT}::test_a_pass_that_hung_until_another_took_over_writes_nothing_any_more",
    ),
    _mutation(
        "the fence's number is not compared",
        "store/unit_of_work.py",
        '        work.c.fence == bindparam("fence"),\n',
        "",
        f"{_STORE}/test_leases.py::test_a_takeover_by_the_same_holder_fences_its_former_lease_too",
    ),
    _mutation(
        "a lapsed lease still writes",
        "store/unit_of_work.py",
        '        work.c.lease_until > bindparam("now"),\n',
        "",
        f"{_STORE}/test_leases.py::test_a_lapsed_lease_writes_nothing_even_if_nobody_took_it",
    ),
    _mutation(
        "the lease's row is read and not locked",
        "store/unit_of_work.py",
        "    return select(work.c.unit).where(*held).with_for_update()\n",
        "    return select(work.c.unit).where(*held)\n",
        f"{_STORE}/test_leases.py::test_nobody_takes_over_while_the_holder_is_writing",
    ),
    _mutation(
        "a live lease is given away",
        "store/work.py",
        '        .where(work.c.unit == bindparam("a_unit"), is_free(now))\n',
        '        .where(work.c.unit == bindparam("a_unit"))\n',
        f"{_STORE}/test_leases.py::test_a_live_lease_is_refused_to_everybody",
    ),
    _mutation(
        "a pass writes without its lease",
        "reconcile/context.py",
        "        return self.store.write(lease=self.lease)\n",
        "        return self.store.write()\n",
        f"{_INTENT}::test_a_pass_that_hung_until_another_took_over_writes_nothing_any_more",
    ),
)

_WITHOUT_INTENT = (
    _mutation(
        "a cluster is created before that is recorded",
        "reconcile/steps/control_plane.py",
        "        _record_intent(ctx)\n",
        "",
        f"{_INTENT}::test_a_process_that_dies_as_it_creates_a_cluster_has_left_word_of_it",
    ),
    _mutation(
        "a node pool is created before that is recorded",
        "reconcile/steps/node_pools.py",
        "    if not work.intend(intent):\n        return record\n    try:\n",
        "    try:\n",
        f"{_INTENT}::test_a_process_that_dies_as_it_creates_a_node_pool_has_left_word_of_it",
    ),
)

_MORE_THAN_ONCE = (
    Mutation(
        name="a reservation is refunded twice: no unique key",
        edits=(
            Edit(
                file=f"{_CORE}/store/tables.py",
                old='        refers("reservation_id", "reservations.id", key=True),\n',
                new='        refers("reservation_id", "reservations.id"),\n',
            ),
            Edit(
                file="daemon/migrations/versions/r0001_first_tables.py",
                old='        sa.PrimaryKeyConstraint("reservation_id", name="pk_refunds"),\n',
                new="",
            ),
        ),
        guards=(f"{_STORE}/test_bookings.py::test_a_refund_is_unique_in_the_database_itself",),
    ),
    _mutation(
        "a reservation ends twice",
        "store/reservations.py",
        "        .where(table.c.id == reservation_id, table.c.state.in_(_NOT_ENDED))\n",
        "        .where(table.c.id == reservation_id)\n",
        f"{_STORE}/test_bookings.py::test_a_reservation_ends_once",
    ),
    _mutation(
        "a GPU is held by two reservations: no unique key",
        "store/tables.py",
        '        refers("node_id", "pool_nodes.id", key=True),\n        words("device_id", key=True),\n',
        '        refers("node_id", "pool_nodes.id"),\n        words("device_id"),\n',
        f"{_STORE}/test_bookings.py::test_a_gpu_is_held_by_one_reservation",
    ),
    _mutation(
        "a provider's cluster is claimed twice: no unique key",
        "store/tables.py",
        """        unique_where("uq_clusters_global_id", "state <> 'deleted'", "global_id"),\n""",
        "",
        f"{_STORE}/test_fleet_rows.py::test_a_providers_cluster_is_claimed_once_whichever_account_reads_it",
    ),
    _mutation(
        "one account has a provider's cluster in two rows: no unique key",
        "store/tables.py",
        """        unique_where("uq_clusters_name", "state <> 'deleted'", "account_id", "location", "name"),\n""",
        "",
        f"{_STORE}/test_claims.py::test_an_account_adopts_a_cluster_once_until_it_is_given_back",
    ),
    _mutation(
        "a cluster that another pool has is adopted: nobody looks",
        "planning/planner.py",
        "    adoptions.refuse_held(wanted, records)\n",
        "",
        "tests/unit/planning/test_adopted_by_another.py::"
        "test_a_second_pool_is_refused_and_told_who_has_the_cluster_and_what_to_do",
    ),
    _mutation(
        "a pool has two clusters: no unique key",
        "store/tables.py",
        """        unique_where("uq_clusters_pool", "state <> 'deleted'", "substrate_pool_id"),\n""",
        "",
        f"{_STORE}/test_fleet_rows.py::test_a_pool_has_one_cluster_until_it_is_deleted",
    ),
    _mutation(
        "an event is told twice: no unique key",
        "store/tables.py",
        '        UniqueConstraint("subject", "type", "key"),\n',
        "",
        f"{_STORE}/test_bookings.py::test_an_event_with_a_key_is_told_once",
    ),
    _mutation(
        "a reader of events passes by one that is committed later",
        "store/outbox.py",
        "    return true() if row.number is None else table.c.number < row.number\n",
        "    return true()\n",
        f"{_STORE}/test_outbox.py::test_what_comes_behind_a_number_that_may_still_be_written_is_held_back",
        f"{_STORE}/test_outbox.py::test_of_two_transactions_at_once_the_one_that_ends_last_is_not_left_out",
    ),
    _mutation(
        "a booking is forgotten and its name is taken for ever",
        "store/forgetting.py",
        "along=(_deleting(every.refunds, every.refunds.c.reservation_id), _deleting(keys, keys.c.result_id)),\n",
        "along=(_deleting(every.refunds, every.refunds.c.reservation_id),),\n",
        f"{_STORE}/test_forgetting.py::test_a_name_whose_booking_is_forgotten_is_free",
    ),
    _mutation(
        "a cluster is forgotten that a repeated request would make anew",
        "store/forgetting.py",
        "        exists().where(every.idempotency.c.result_id == rows.c.id),\n",
        "",
        f"{_STORE}/test_forgetting.py::test_a_key_stays_for_as_long_as_its_repetition_would_make_something_anew",
    ),
    _mutation(
        "an event is forgotten with its number, which SQLite gives again",
        "store/forgetting.py",
        "    chosen = old.where(table.c.number < last.number)",
        "    chosen = old.where(table.c.number <= last.number)",
        f"{_STORE}/test_forgetting.py::test_numbers_of_events_are_never_given_twice",
    ),
    _mutation(
        "many values are looked for without an index",
        "store/statements.py",
        "            return self\n",
        "            return super().self_group(against)\n",
        "tests/integration/reconcile/test_history_is_not_read.py::test_history_is_not_gone_through",
    ),
    _mutation(
        "a join that is repeated costs a second use",
        "nodes/entering.py",
        "    if known.by_identity is not None:\n",
        "    if known.by_identity is not None and known.use is None:\n",
        "tests/integration/nodes/test_joining.py::"
        "test_a_repeated_join_is_answered_with_the_same_node_and_costs_no_second_use",
    ),
    _mutation(
        "machines that join together share one use",
        "nodes/joining.py",
        "            spent[token.pool_id] += entering.use == Use.NEW\n",
        "            spent[token.pool_id] += 0\n",
        "tests/integration/nodes/test_joining_together.py::"
        "test_of_many_at_one_moment_only_as_many_get_in_as_the_token_admits",
    ),
    _mutation(
        "a token and the one that replaces it have their uses each for itself",
        "nodes/join_token.py",
        "    uses = sum(token.uses for token in kept) + matching.unconnected\n",
        "    uses = sum(token.uses for token in live) + 2 * matching.unconnected\n",
        "tests/integration/nodes/test_join_tokens.py::"
        "test_a_token_and_the_one_that_replaces_it_let_in_exactly_those_who_wait_whichever_they_show",
    ),
)

_OVER_ANOTHERS = (
    _mutation(
        "a cluster's status is written onto another generation",
        "store/clusters.py",
        '    key = {"id": rec.id, "generation": rec.generation}\n',
        '    key = {"id": rec.id}\n',
        f"{_STORE}/test_fleet_rows.py::test_a_status_that_was_found_for_a_former_generation_is_not_written",
    ),
    _mutation(
        "a node pool's status is written onto another version",
        "store/clusters.py",
        '    key = {"id": rec.id, "version": rec.version}\n',
        '    key = {"id": rec.id}\n',
        f"{_STORE}/test_fleet_rows.py::test_a_status_that_was_found_for_a_former_version_is_not_written",
    ),
    _mutation(
        "a plan is applied to records that moved",
        "store/fleet.py",
        "    raised = tx.execute(fleet.update().where(fleet.c.serial == expected).values(serial=expected + 1))\n",
        "    raised = tx.execute(fleet.update().values(serial=expected + 1))\n",
        f"{_STORE}/test_fleet_rows.py::test_the_serial_rises_by_one_and_only_from_where_it_was_expected",
    ),
)

_LEFT_BEHIND = (
    _mutation(
        "a cluster is claimed before that is recorded",
        "reconcile/steps/first_claim.py",
        "        _record_let_in(ctx)\n",
        "        pass\n",
        f"{_GIVING_BACK}::test_a_claim_whose_reply_was_lost_is_not_forgotten",
    ),
    _mutation(
        "an adopted cluster that cannot be seen into is given up",
        "reconcile/steps/withdraw.py",
        "    return ctx.cluster.adopted and ctx.cluster.ready_before and not ctx.gone and ctx.api is None\n",
        "    return False\n",
        f"{_GIVING_BACK}::test_whatever_cannot_be_removed_is_told_and_tried_again_and_all_that_comes_after_it_stays",
    ),
    _mutation(
        "our identity is taken from whoever claimed the cluster meanwhile",
        "reconcile/steps/give_back.py",
        "        if claim.held_by(ctx.api) not in (None, ctx.pool.id):\n",
        "        if claim.held_by(ctx.api) in ():\n",
        f"{_GIVING_BACK}::test_whoever_claimed_the_cluster_meanwhile_keeps_its_claim_and_the_identity_that_it_lives_by",
    ),
)

_ON_ONE_LIST = (
    _mutation(
        "what nobody knows to be declared counts as declared",
        "reconcile/specs.py",
        "    return None if None in known else sum(one.most for one in known if one is not None)\n",
        "    return sum(one.most for one in known if one is not None)\n",
        "tests/unit/reconcile/test_specs.py::"
        "test_of_one_total_that_is_not_known_nothing_is_declared_and_nothing_is_waited_for",
    ),
    _mutation(
        "a node pool counts for one zone wherever it stands",
        "reconcile/specs.py",
        "        zones = {zone_of.get(place, place) for place in found.places} if found else set()\n",
        '        zones = {"a"}\n',
        "tests/integration/three_providers/test_lists_at_gke.py::test_a_list_that_misses_most_nodes_must_be_confirmed",
    ),
    _mutation(
        "a teardown that waits for a booking believes one list",
        "reconcile/steps/nodes.py",
        "    if ctx.gone or (ctx.pool.intent != Intent.RUN and not bookings(tx, ctx.pool.id)):\n",
        "    if ctx.gone or ctx.pool.intent != Intent.RUN:\n",
        "tests/integration/reconcile/test_lists_in_a_teardown.py::"
        "test_one_list_without_nodes_ends_no_booking_and_another_that_says_so_too_does",
    ),
)

_BOOKING_POOLS = "tests/integration/modules/test_bc_reservation_of_tenants.py"

_IN_ANOTHERS_POOL = (
    _mutation(
        "a tenant learns of a pool in which it has no quota",
        "operations/booking_pools.py",
        "if one.pool.tenant_id == tenant_id or one.has_quota or one.last is not None",
        "if True",
        f"{_BOOKING_POOLS}::test_without_a_quota_a_pool_looks_as_if_there_were_none",
    ),
    _mutation(
        "a booking cannot be given back once its quota is gone",
        "operations/booking_pools.py",
        " or one.has_quota or one.last is not None",
        " or one.has_quota",
        f"{_BOOKING_POOLS}::TestAfterTheQuotaIsGone::test_what_stands_is_found_and_given_back_once",
        f"{_BOOKING_POOLS}::TestWhileThePoolIsTornDown::"
        "test_the_teardown_waits_for_the_tenants_booking_and_it_is_given_back_by_the_pools_name",
    ),
    _mutation(
        "a name books twice, because a nearer pool was declared since",
        "operations/booking_pools.py",
        "    return one.current is None, not open_to_it,",
        "    return True, not open_to_it,",
        f"{_BOOKING_POOLS}::TestPoolsOfOneName::"
        "test_what_stands_in_the_platforms_is_still_meant_when_the_tenant_declares_its_own",
    ),
)

_LISTS = "tests/integration/operations"

_LISTED_TO_OTHERS = (
    _mutation(
        "a tenant learns from a list of bookings that another's pool exists",
        "operations/booking_list.py",
        "if pool.tenant_id == tenant_id or pool.id in open_to_it",
        "if True",
        f"{_LISTS}/test_booking_list.py::TestWhoFindsAPool::"
        "test_another_tenant_is_told_what_it_is_told_of_a_pool_that_there_is_not",
    ),
    _mutation(
        "a tenant is told of others' bookings",
        "operations/booking_list.py",
        "reservations_in(tx, of_pools, states, tenant_id=tenant_id)",
        "reservations_in(tx, of_pools, states)",
        f"{_LISTS}/test_booking_list.py::TestWhoFindsAPool::"
        "test_a_tenant_does_by_its_quota_and_sees_only_its_own_bookings_there",
    ),
    _mutation(
        "a tenant is told of others' machines",
        "operations/machine_list.py",
        "if tenant_id in (None, record.tenant_id)",
        "if True",
        f"{_LISTS}/test_machine_list.py::test_a_tenant_sees_the_machines_of_its_own_pools_alone",
    ),
)

MUTATIONS = (
    *_UNFENCED,
    *_WITHOUT_INTENT,
    *_MORE_THAN_ONCE,
    *_OVER_ANOTHERS,
    *_LEFT_BEHIND,
    *_ON_ONE_LIST,
    *_IN_ANOTHERS_POOL,
    *_LISTED_TO_OTHERS,
)
