// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.cluster.ProcessSet;
import io.weft.cluster.Topology;
import io.weft.cluster.elastic.EpochFollower;
import io.weft.cluster.elastic.Membership.Epoch;
import io.weft.collective.group.Group;
import io.weft.collective.group.Groups;
import io.weft.collective.group.NameUses;
import io.weft.comm.CommException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Takes the collectives from one epoch to the next: communicators belong to one, and nothing of an
/// epoch reaches another. Its members' operations fail when it is revoked, its names and
/// communicators are forgotten when the next one begins; its frames are told by the key of the
/// communicator, its writes by their tokens. Confined to the progress thread but for `group`.
final class Epochs implements EpochFollower {

  private final Groups groups;
  private final NameUses names;
  private final Inbox inbox;
  private final CommunicatorFailures failures;
  private final Consumer<Group> onlooker;
  private final Map<Family, Integer> instances = new HashMap<>();
  private @Nullable CommException revoked;
  private long epoch;

  /// What communicators have in common that are counted.
  private record Family(Epoch members, String name) {}

  /// Whoever keeps something for a communicator hears as `onlooker` that its epoch has ended.
  Epochs(
      Groups groups,
      NameUses names,
      Inbox inbox,
      CommunicatorFailures failures,
      Consumer<Group> onlooker) {
    this.groups = groups;
    this.names = names;
    this.inbox = inbox;
    this.failures = failures;
    this.onlooker = onlooker;
  }

  /// A new group of these ranks in an epoch that this rank has entered. Throws
  /// `IllegalArgumentException` for ranks that are not in it. User thread.
  ///
  /// @param name of a duplicate; else empty
  synchronized Group group(ProcessSet set, Epoch in, String name, Topology topology, int self) {
    for (int rank : set.ranks()) {
      if (in.members().rankOf(rank) < 0) {
        throw new IllegalArgumentException(
            "rank "
                + rank
                + " of "
                + set.ranks()
                + " is not among the "
                + in.members().size()
                + " ranks of this job in epoch "
                + in.number());
      }
    }
    if (set.rankOf(self) < 0) {
      throw new IllegalArgumentException(
          "rank " + self + " is not in the process set " + set.ranks());
    }
    Epoch made = new Epoch(in.number(), set);
    int instance = instances.merge(new Family(made, name), 1, Integer::sum);
    if (instance > Group.MAX_INSTANCES) {
      throw new IllegalStateException(
          "rank "
              + self
              + " has made "
              + Group.MAX_INSTANCES
              + " communicators of "
              + set.ranks()
              + ", more than can be told apart; use one again instead of making another");
    }
    return new Group(made, name, instance, topology, self);
  }

  /// Opens a group; returns why it is of no use already, null if it is.
  @Nullable CommException open(Group group) {
    if (group.epoch() < epoch) {
      return FailureMessages.past(group);
    }
    CommException aborted = groups.open(group);
    return aborted != null ? aborted : revoked;
  }

  @Override
  public void onRevoked(CommException cause) {
    if (revoked == null) {
      revoked = cause;
      groups.forEach(
          group -> {
            var unused = failures.abortHere(group, cause);
          });
    }
  }

  @Override
  public void onAnnounced(int rank, long target) {
    inbox.onAnnounced(rank, target);
  }

  @Override
  public void onEpoch(long number, ProcessSet members) {
    epoch = number;
    revoked = null;
    groups.forEach(onlooker);
    groups.closeAll();
    names.clear();
    inbox.onEpoch(members);
  }
}
