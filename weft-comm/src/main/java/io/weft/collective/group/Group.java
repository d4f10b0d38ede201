// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.cluster.ProcessSet;
import io.weft.cluster.Topology;
import io.weft.cluster.elastic.Membership.Epoch;
import io.weft.collective.CommunicatorObserver;
import io.weft.collective.frame.Hash;
import io.weft.comm.CommException;
import io.weft.transport.Transport;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A communicator as the progress thread sees it: its members, its key on the wire, and its
/// failure. The members are fixed. The rest is confined to the progress thread.
public final class Group {

  /// The maximum number of communicators of one set, name and epoch.
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

  /// Creates the communicator of a set of ranks with this name.
  ///
  /// @param name empty for communicators that a program creates without a name
  /// @param instance number among the communicators of the same set, name and epoch, from 1
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

  /// Returns the part of a key that all communicators of one set, name and epoch share.
  static long family(long key) {
    return key >>> INSTANCE_BITS;
  }

  /// Returns the instance number of a communicator within its family.
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

  /// Returns for each member a number that identifies its host.
  public List<Integer> hosts() {
    List<String> names =
        set.ranks().stream().map(world -> topology.members().get(world).host()).toList();
    return names.stream().map(names::indexOf).toList();
  }

  /// Returns the member with this world rank, or -1 if it is not a member or joined the job later.
  public int member(int worldRank) {
    return worldRank < memberOf.length ? memberOf[worldRank] : -1;
  }

  /// Returns whether the members may share memory: there are several, on one host, and all are
  /// reachable by a transport that gives access to peers' memory. Equal on all members.
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

  public void tell(CommunicatorObserver observer) {
    observer.onOpen(key, topology.epoch(), instance(key), set.ranks());
  }

  /// Returns a member's world rank and host, such as "rank 1 on node7".
  public String describe(int member) {
    return topology.describe(world(member));
  }

  public String self() {
    return describe(rank);
  }

  /// Returns the cause for which no operation can succeed any more, or null.
  public @Nullable CommException failure() {
    return failure;
  }

  /// Returns whether all operations have failed, rather than only those submitted after a member
  /// left.
  public boolean isAborted() {
    return aborted;
  }

  public boolean isClosed() {
    return closed;
  }

  public void close() {
    closed = true;
  }

  /// Returns the number of names that this rank knows of the communicator.
  public int names() {
    return names;
  }

  void addNames(int more) {
    names += more;
  }

  /// Records the first failure. Returns whether this is the first one.
  public boolean failWith(CommException cause) {
    if (failure != null) {
      return false;
    }
    failure = cause;
    return true;
  }

  /// Aborts the communicator, possibly after a member has left and new operations have failed.
  /// Returns whether it was not aborted before.
  public boolean abortWith(CommException cause) {
    var unused = failWith(cause);
    boolean first = !aborted;
    aborted = true;
    return first;
  }
}
