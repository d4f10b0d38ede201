// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.Announcement;
import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.RoundReport;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.negotiation.LocalTensor.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// One rank's part of the negotiation, in which ranks determine without a coordinator the tensors
/// that are ready on all ranks. It creates the rank's contribution to the next round and interprets
/// the round's result. All ranks apply the same results in the same order, so that cache, announced
/// tensors, groups and joined ranks are equal on all. Time is an argument. Confined to one thread.
///
/// A tensor in the cache costs one byte in the vector. A tensor that is not in the cache, or has
/// another signature there, is announced. It enters the cache when all ranks have announced it with
/// equal signatures. A tensor that waits for a long time is also announced, so that all ranks know
/// the missing ranks.
public final class Negotiation {

  /// The maximum number of remembered tensors that failed before a rank had submitted them.
  private static final int MOST_LATE = 1024;

  private static final long REPORT_NANOS = 1_000_000_000;

  private final Settings settings;
  private final ResponseCache cache;
  private final Map<String, LocalTensor> local = new LinkedHashMap<>();
  private final Map<String, AnnouncedTensor> announced = new LinkedHashMap<>();
  private final TensorGroups groups = new TensorGroups();
  private final List<LateTensor> late = new ArrayList<>();
  private final List<Announcement> withdrawn = new ArrayList<>();
  private final BitSet joined = new BitSet();
  private final RoundReport[] reports;
  private long reportedAt;
  private long rounds;
  private int lastJoined = -1;
  private boolean joining;
  private boolean leaving;

  /// The settings of a negotiation.
  ///
  /// @param cacheCapacity capacity of the response cache, in tensors
  /// @param stallNanos the wait after which a cached tensor is announced
  /// @param describe returns a rank in words
  public record Settings(
      int rank, int size, int cacheCapacity, long stallNanos, IntFunction<String> describe) {}

  /// A tensor that has failed, and the ranks that have not submitted it yet.
  private record LateTensor(BitSet ranks, FailedTensor cause) {
    boolean is(String name, int rank) {
      return cause.name().equals(name) && ranks.get(rank);
    }
  }

  public Negotiation(Settings settings) {
    this.settings = settings;
    this.cache = new ResponseCache(settings.cacheCapacity());
    this.reports = new RoundReport[settings.size()];
    Arrays.fill(reports, RoundReport.NONE);
  }

  /// Registers a tensor that this rank has submitted; its name must not be in use.
  public void submit(String name, TensorSignature signature, long nanos, long deadline) {
    LocalTensor tensor = new LocalTensor(name, signature, nanos, deadline);
    if (cache.has(name) && cache.signature(name).equals(signature)) {
      tensor.state = State.CACHED;
    }
    local.put(name, tensor);
  }

  /// Registers that this rank has no more data.
  public void join() {
    joining = true;
  }

  /// Registers that this rank closes the layer.
  public void leave() {
    leaving = true;
  }

  /// Withdraws tensors of this rank whose deadline has passed before the first round. The first
  /// round announces this to the other ranks. Returns the names.
  public List<String> giveUp(long nanos) {
    List<String> names = new ArrayList<>();
    for (LocalTensor tensor : local.values()) {
      if (nanos - tensor.deadline >= 0) {
        withdrawn.add(new Announcement.Withdrawn(tensor.name, tensor.signature));
        names.add(tensor.name);
      }
    }
    names.forEach(local::remove);
    return names;
  }

  /// Returns true if a tensor of this rank, or its `join`, waits for other ranks.
  public boolean isWaiting() {
    return !local.isEmpty() || !withdrawn.isEmpty() || joined.get(settings.rank()) || joining;
  }

  /// Returns the submission time of the tensor that has waited longest; `otherwise` if none waits.
  public long waitingSince(long otherwise) {
    return local.isEmpty() ? otherwise : local.values().iterator().next().submitted;
  }

  /// Returns this rank's contribution to the next round.
  ///
  /// @param lastOperation name of this rank's last operation
  /// @param idleNanos time since that operation
  public Round begin(long nanos, String lastOperation, long idleNanos) {
    rounds++;
    List<Announcement> told = new ArrayList<>(withdrawn);
    withdrawn.clear();
    boolean stalled = false;
    for (LocalTensor tensor : local.values()) {
      tell(tensor, nanos, told);
      stalled |= nanos - tensor.submitted >= settings.stallNanos();
    }
    if (joining) {
      told.add(new Announcement.Joined());
      joining = false;
    }
    if (leaving) {
      told.add(new Announcement.Leaving());
      leaving = false;
    }
    byte[] vector = new byte[Round.HEAD + cache.slots()];
    if (joined.get(settings.rank())) {
      Arrays.fill(vector, (byte) 1);
    }
    for (LocalTensor tensor : local.values()) {
      if (tensor.state == State.CACHED) {
        vector[Round.HEAD + cache.slot(tensor.name)] = 1;
      }
    }
    boolean refresh = stalled && nanos - reportedAt >= REPORT_NANOS;
    vector[1] = (byte) Round.ANY_THRESHOLD;
    vector[0] = (byte) (told.isEmpty() && !refresh ? 1 : 0);
    return new Round(vector, new RoundReport(lastOperation, idleNanos / 1_000_000, told));
  }

  private void tell(LocalTensor tensor, long nanos, List<Announcement> told) {
    long patience = Math.min(settings.stallNanos(), (tensor.deadline - tensor.submitted) / 2);
    boolean waits = tensor.state == State.CACHED && nanos - tensor.submitted >= patience;
    if (tensor.state == State.UNTOLD || waits) {
      told.add(new Announcement.Submitted(tensor.name, tensor.signature));
      tensor.state = State.TOLD;
      tensor.toldRound = rounds;
    } else if (tensor.state == State.TOLD
        && nanos - tensor.deadline >= 0
        // A rank that had the tensor in its cache announces it in the round after this rank did.
        && rounds >= tensor.toldRound + 2) {
      told.add(new Announcement.Expired(tensor.name));
    }
  }

  /// Returns the outcome of the round in flight.
  ///
  /// @param combined the minimum of all ranks' vectors
  /// @param all reports in rank order; empty if they were not exchanged
  public Outcome end(byte[] combined, List<RoundReport> all, long nanos) {
    List<ReadyTensor> ready = new ArrayList<>();
    List<FailedTensor> failed = new ArrayList<>();
    for (int slot = 0; slot < combined.length - Round.HEAD; slot++) {
      String name = cache.name(slot);
      if (name != null && combined[Round.HEAD + slot] == 1) {
        cache.touch(name);
        agree(new ReadyTensor(name, cache.signature(name)), ready, failed);
      }
    }
    int leaver = -1;
    for (int rank = 0; rank < all.size(); rank++) {
      reports[rank] = all.get(rank);
      reportedAt = nanos;
      for (Announcement each : all.get(rank).announcements()) {
        switch (each) {
          case Announcement.Submitted(String name, TensorSignature signature) ->
              admit(rank, name, signature, failed);
          case Announcement.Withdrawn(String name, TensorSignature signature) ->
              withdraw(rank, name, signature, failed);
          case Announcement.Expired(String name) -> expire(name, failed);
          case Announcement.Joined() -> {
            joined.set(rank);
            lastJoined = rank;
          }
          case Announcement.Leaving() -> leaver = leaver < 0 ? rank : leaver;
        }
      }
    }
    if (!all.isEmpty()) {
      resolveComplete(ready, failed);
    }
    for (FailedTensor each : failed) {
      local.remove(each.name());
    }
    return new Outcome(ready, failed, joinedByAll(), leaver);
  }

  private int joinedByAll() {
    if (joined.cardinality() < settings.size()) {
      return -1;
    }
    joined.clear();
    return lastJoined;
  }

  private void admit(int rank, String name, TensorSignature signature, List<FailedTensor> failed) {
    FailedTensor before = lateOf(rank, name);
    if (before != null) {
      if (rank == settings.rank()) {
        failed.add(before);
      }
      return;
    }
    forget(name);
    announced
        .computeIfAbsent(name, key -> new AnnouncedTensor(key, settings.size()))
        .announce(rank, signature);
  }

  /// Returns why the tensor that the rank submits now has failed before; null if it is not late.
  private @Nullable FailedTensor lateOf(int rank, String name) {
    for (LateTensor each : late) {
      if (each.is(name, rank)) {
        each.ranks().clear(rank);
        if (each.ranks().isEmpty()) {
          late.remove(each);
          return each.cause();
        }
        return each.cause();
      }
    }
    return null;
  }

  private void forget(String name) {
    if (cache.has(name)) {
      cache.remove(name);
      announceAgain(name);
    }
  }

  /// Fails a tensor that a rank has withdrawn without announcing it. The rank no longer waits for
  /// it.
  private void withdraw(
      int rank, String name, TensorSignature signature, List<FailedTensor> failed) {
    if (lateOf(rank, name) != null) {
      return; // another rank has withdrawn it before
    }
    forget(name);
    AnnouncedTensor others = announced.remove(name);
    AnnouncedTensor tensor = others == null ? new AnnouncedTensor(name, settings.size()) : others;
    BitSet missing = tensor.missing(joined);
    missing.clear(rank);
    FailedTensor cause =
        new FailedTensor(
            name,
            rank,
            settings.describe().apply(rank)
                + " gave up '"
                + name
                + "', whose deadline passed before all ranks had made their reducer; make it on"
                + " all ranks sooner, or raise the deadline; the reducer works on");
    remember(missing, cause);
    fail(tensor, signature, cause, failed);
  }

  /// Marks a tensor that has left the cache for announcement.
  private void announceAgain(String name) {
    LocalTensor own = local.get(name);
    if (own != null && own.state == State.CACHED) {
      own.state = State.UNTOLD;
    }
  }

  private void expire(String name, List<FailedTensor> failed) {
    AnnouncedTensor tensor = announced.get(name);
    BitSet missing = tensor == null ? new BitSet() : tensor.missing(joined);
    if (tensor == null || missing.isEmpty()) {
      return; // all ranks have announced it since
    }
    announced.remove(name);
    int culprit = missing.nextSetBit(0);
    FailedTensor cause = new FailedTensor(name, culprit, neverSubmitted(name, missing));
    remember(missing, cause);
    fail(tensor, cause, failed);
  }

  private String neverSubmitted(String name, BitSet missing) {
    return StallReport.neverSubmitted(
        missing.stream()
            .mapToObj(
                r ->
                    settings.describe().apply(r)
                        + " never submitted '"
                        + name
                        + "'; "
                        + StallReport.last(reports[r]))
            .toList());
  }

  private void resolveComplete(List<ReadyTensor> ready, List<FailedTensor> failed) {
    List<AnnouncedTensor> complete =
        announced.values().stream().filter(each -> each.missing(joined).isEmpty()).toList();
    for (AnnouncedTensor tensor : complete) {
      if (announced.remove(tensor.name) == null) {
        continue; // it has failed with its group
      }
      var signatures = tensor.bySignature().keySet();
      if (signatures.size() == 1) {
        TensorSignature signature = signatures.iterator().next();
        String evicted = cache.put(tensor.name, signature);
        if (evicted != null) {
          announceAgain(evicted);
        }
        agree(new ReadyTensor(tensor.name, signature), ready, failed);
      } else {
        String message = tensor.disagreement(settings.describe());
        fail(tensor, new FailedTensor(tensor.name, -1, message), failed);
      }
    }
  }

  /// Adds a tensor that is ready on all ranks. A tensor of a group waits until its group is ready.
  private void agree(ReadyTensor tensor, List<ReadyTensor> ready, List<FailedTensor> failed) {
    TensorSignature signature = tensor.signature();
    if (signature.collective() == Collective.BROADCAST && joined.get(signature.root())) {
      failRootless(tensor, failed);
      return;
    }
    if (!tensor.signature().isGrouped()) {
      ready.add(tensor);
      local.remove(tensor.name());
      return;
    }
    LocalTensor own = local.get(tensor.name());
    if (own != null) {
      own.state = State.HELD;
    }
    int before = ready.size();
    groups.add(tensor, ready, failed);
    ready.subList(before, ready.size()).forEach(each -> local.remove(each.name()));
  }

  private void failRootless(ReadyTensor tensor, List<FailedTensor> failed) {
    TensorSignature signature = tensor.signature();
    String message =
        "broadcast '"
            + tensor.name()
            + "': "
            + settings.describe().apply(signature.root())
            + ", its root, has joined and has nothing to send; broadcast before join, or from"
            + " another rank";
    FailedTensor cause = new FailedTensor(tensor.name(), signature.root(), message);
    if (local.containsKey(tensor.name())) {
      failed.add(cause);
    }
    if (signature.isGrouped()) {
      groups.fail(signature.group().name(), signature.group().size(), cause, failed);
    }
  }

  private void fail(AnnouncedTensor tensor, FailedTensor cause, List<FailedTensor> failed) {
    fail(tensor, null, cause, failed);
  }

  /// @param withdrawn signature of a rank that withdrew the tensor without announcing it; null =
  ///   none
  private void fail(
      AnnouncedTensor tensor,
      @Nullable TensorSignature withdrawn,
      FailedTensor cause,
      List<FailedTensor> failed) {
    if (tensor.isBy(settings.rank())) {
      failed.add(cause);
    }
    Map<String, Integer> sizes = new LinkedHashMap<>();
    if (withdrawn != null && withdrawn.isGrouped()) {
      sizes.put(withdrawn.group().name(), withdrawn.group().size());
    }
    for (TensorSignature signature : tensor.bySignature().keySet()) {
      if (signature.isGrouped()) {
        sizes.merge(signature.group().name(), signature.group().size(), Math::max);
      }
    }
    sizes.forEach(
        (group, size) -> {
          groups.fail(group, size, cause, failed);
          failRest(group, size, cause, failed);
        });
  }

  /// Fails the announced tensors of a failed group. They must not wait for the other ranks, which
  /// may never submit them.
  private void failRest(String group, int size, FailedTensor cause, List<FailedTensor> failed) {
    List<AnnouncedTensor> rest =
        announced.values().stream().filter(each -> each.isOf(group)).toList();
    for (AnnouncedTensor tensor : rest) {
      announced.remove(tensor.name);
      FailedTensor own =
          new FailedTensor(
              tensor.name,
              cause.culprit(),
              "group '" + group + "' fails with one of its tensors: " + cause.message());
      remember(tensor.missing(joined), own);
      if (tensor.isBy(settings.rank())) {
        failed.add(own);
      }
      groups.fail(group, size, own, failed);
    }
  }

  private void remember(BitSet missing, FailedTensor cause) {
    if (!missing.isEmpty()) {
      late.add(new LateTensor(missing, cause));
      if (late.size() > MOST_LATE) {
        late.removeFirst();
      }
    }
  }

  /// Returns in words the missing ranks of tensors that this rank submitted long ago; null = no
  /// tensor has waited that long.
  public @Nullable String stall(long nanos) {
    List<String> waiting = new ArrayList<>();
    BitSet missing = new BitSet();
    for (LocalTensor tensor : local.values()) {
      AnnouncedTensor known = announced.get(tensor.name);
      if (known != null && nanos - tensor.submitted >= settings.stallNanos()) {
        BitSet without = known.missing(joined);
        missing.or(without);
        waiting.add(StallReport.waiting(tensor.name, nanos - tensor.submitted, without));
      }
    }
    if (waiting.isEmpty()) {
      return null;
    }
    return StallReport.of(
        settings.describe().apply(settings.rank()),
        waiting,
        missing.stream().mapToObj(this::ofMissing).toList());
  }

  private String ofMissing(int rank) {
    return settings.describe().apply(rank)
        + ": "
        + StallReport.last(reports[rank])
        + StallReport.also(submittedBy(rank));
  }

  /// Returns the tensors that this rank has announced and that wait for others.
  private List<String> submittedBy(int rank) {
    return announced.values().stream()
        .filter(each -> each.isBy(rank))
        .map(each -> each.name)
        .toList();
  }
}
