// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.cluster.ProcessSet;
import io.weft.cluster.Topology;
import io.weft.cluster.elastic.Membership.Epoch;
import io.weft.collective.CollectiveObserver;
import io.weft.collective.frame.Hash;
import io.weft.comm.CommException;
import io.weft.transport.Transport;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A communicator as the progress thread sees it: its members, its key on the wire, and why it
/// failed if it did. The members are fixed; the rest is confined to the progress thread.
public final class Group {

  /// How many communicators of one set there may be, one after the other.
  public static final int MAX_INSTANCES = (1 << 24) - 1;

  private static final int INSTANCE_BITS = 24;

  private final long key;
  private final long epoch;
  private final ProcessSet set;
  private final String name;
  private final Topology topology;
  private final int rank;
  private final int[] memberOf;
  private @Nullable CommException failure;
  private boolean closed;
  private boolean aborted;
  private int names;

  /// Makes the communicator of a set of ranks with this name.
  ///
  /// @param name empty for the communicators that a program makes without one
  /// @param instance counts the communicators of the same set and name in the same epoch, from 1
  public Group(Epoch in, String name, int instance, Topology topology, int worldRank) {
    this.set = in.members();
    this.epoch = in.number();
    this.name = name;
    String words = "set " + set.ranks() + " of epoch " + epoch;
    long family = Hash.of(0, name.isEmpty() ? words : words + " named " + name);
    this.key = family << INSTANCE_BITS | instance;
    this.topology = topology;
    this.rank = set.rankOf(worldRank);
    this.memberOf = new int[topology.size()];
    Arrays.fill(memberOf, -1);
    for (int m = 0; m < set.size(); m++) {
      memberOf[set.ranks().get(m)] = m;
    }
  }

  public long key() {
    return key;
  }

  /// What all communicators of one set, name and epoch have in common.
  static long family(long key) {
    return key >>> INSTANCE_BITS;
  }

  /// Which one of its family it is.
  static int instance(long key) {
    return (int) key & MAX_INSTANCES;
  }

  public long epoch() {
    return epoch;
  }

  /// Returns the name of a duplicate of this communicator that the caller calls `own`.
  public String nameOfDuplicate(String own) {
    return name + "#" + instance(key) + "/" + own;
  }

  /// World ranks of its members.
  public ProcessSet set() {
    return set;
  }

  public int rank() {
    return rank;
  }

  public int size() {
    return set.size();
  }

  public int world(int member) {
    return set.ranks().get(member);
  }

  /// For each member a number of its host.
  public List<Integer> hosts() {
    List<String> names =
        set.ranks().stream().map(world -> topology.members().get(world).host()).toList();
    return names.stream().map(names::indexOf).toList();
  }

  /// The member with this world rank, -1 if there is none, as for one that joined the job later.
  public int member(int worldRank) {
    return worldRank < memberOf.length ? memberOf[worldRank] : -1;
  }

  /// Whether its members may share memory: more than one of them, on one host, and all reached by a
  /// transport that gives peers' memory. The same on all members.
  public boolean mayShareMemory(Transport transport) {
    String scheme = transport.address().scheme();
    return size() > 1
        && transport.capabilities().directAccess()
        && hosts().stream().distinct().count() == 1
        && set.ranks().stream()
            .allMatch(
                r ->
                    topology.members().get(r).addresses().stream()
                        .anyMatch(a -> a.scheme().equals(scheme)));
  }

  public void tell(CollectiveObserver observer) {
    observer.onOpen(key, topology.epoch(), instance(key), set.ranks());
  }

  /// "rank 1 on node7", world rank.
  public String describe(int member) {
    return topology.describe(world(member));
  }

  public String self() {
    return describe(rank);
  }

  /// Why no operation can succeed any more; null while they can.
  public @Nullable CommException failure() {
    return failure;
  }

  /// Whether all its operations have failed, not only those that were submitted after a member had
  /// left.
  public boolean isAborted() {
    return aborted;
  }

  /// Whether it was closed here.
  public boolean isClosed() {
    return closed;
  }

  public void close() {
    closed = true;
  }

  /// How many names are known of it here.
  public int names() {
    return names;
  }

  void addNames(int more) {
    names += more;
  }

  /// Only the first failure counts; returns whether this was it.
  public boolean failWith(CommException cause) {
    if (failure != null) {
      return false;
    }
    failure = cause;
    return true;
  }

  /// It is aborted, perhaps after a member had left and new operations failed already. Returns
  /// whether it was not aborted before.
  public boolean abortWith(CommException cause) {
    var unused = failWith(cause);
    boolean first = !aborted;
    aborted = true;
    return first;
  }
}
