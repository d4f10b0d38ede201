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

/// Moves the collectives from one epoch to the next. A communicator belongs to one epoch, and
/// nothing of an epoch reaches another. When the epoch is revoked, its operations fail. When the
/// next one begins, its names and communicators are forgotten. Late frames are recognised by the
/// communicator's key, late writes by their tokens. Confined to the progress thread except `group`.
final class Epochs implements EpochFollower {

  private final Groups groups;
  private final NameUses names;
  private final Inbox inbox;
  private final CommunicatorFailures failures;
  private final Consumer<Group> onlooker;
  private final Map<Family, Integer> instances = new HashMap<>();
  private @Nullable CommException revoked;
  private long epoch;

  /// The properties that counted communicators share.
  private record Family(Epoch members, String name) {}

  /// Creates the follower. `onlooker` is called for each communicator whose epoch has ended.
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

  /// Creates a group of these ranks in an epoch that this rank has entered. Throws
  /// `IllegalArgumentException` for ranks outside the epoch. User thread.
  ///
  /// @param name name of a duplicate; otherwise empty
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
              + ", the maximum; use an existing one instead of creating another");
    }
    return new Group(made, name, instance, topology, self);
  }

  /// Opens a group. Returns the cause if it is already unusable, else null.
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
