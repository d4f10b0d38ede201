// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import io.weft.text.Printable;
import java.io.Serial;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What communication can suffer, by blast radius. Every message names operation, tensor, rank,
/// host, how long we waited and what to do, on one line that can be printed, whatever names others
/// have chosen. Each type says what remains usable.
public abstract sealed class CommException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  CommException(String message, @Nullable Throwable cause) {
    super(Printable.of(message), cause);
  }

  /// Returns a copy for the calling thread to throw, with that thread's stack trace: the trace of
  /// the progress thread, which has found the failure, tells a program nothing. Each thread that
  /// waits for a handle throws a copy of its own, and may add suppressed exceptions to it.
  public final CommException thrownByWaiter() {
    String message = Objects.requireNonNull(getMessage(), "message");
    Throwable cause = getCause();
    CommException copy =
        switch (this) {
          case Mismatch _ -> new Mismatch(message);
          case Broken broken -> new Broken(message, broken.culprit, cause);
          case TimedOut late -> new TimedOut(message, late.missing);
          case PeerLost lost -> new PeerLost(message, lost.rank, lost.witness, cause);
          case Aborted aborted -> new Aborted(message, aborted.culprit, cause);
          case Excluded excluded -> new Excluded(message, excluded.witness);
          case Setup setup -> new Setup(message, setup.ranks, cause);
        };
    for (Throwable suppressed : getSuppressed()) {
      copy.addSuppressed(suppressed);
    }
    StackTraceElement[] here = copy.getStackTrace();
    copy.setStackTrace(Arrays.copyOfRange(here, Math.min(1, here.length), here.length));
    return copy;
  }

  /// Ranks disagree on this tensor (shape, dtype, operation, root). Raised on all ranks, but for
  /// those that have completed a broadcast, see `Communicator`; the communicator works on.
  public static final class Mismatch extends CommException {
    @Serial private static final long serialVersionUID = 1L;

    /// With a message that names the tensor and what each side said.
    public Mismatch(String message) {
      super(message, null);
      Objects.requireNonNull(message, "message");
    }
  }

  /// This operation has failed on a rank, for a reason of that rank's own: the arena of its tensor
  /// was closed, or there is a defect. Raised on all ranks that had not completed it; the
  /// communicator works on.
  public static final class Broken extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int culprit;

    /// With the world rank on which it failed; on that rank with what was thrown.
    public Broken(String message, int culprit, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.culprit = culprit;
    }

    /// The world rank on which it failed.
    public int culprit() {
      return culprit;
    }
  }

  /// `await` gave up; the operation is still running and its buffers stay borrowed.
  public static final class TimedOut extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final transient List<Integer> missing;

    /// With the ranks that were silent, as far as known.
    public TimedOut(String message, List<Integer> missing) {
      super(message, null);
      Objects.requireNonNull(message, "message");
      this.missing = List.copyOf(missing);
    }

    /// World ranks that had not answered.
    public List<Integer> missing() {
      return missing;
    }
  }

  /// A peer is gone, for all ranks; every communicator that contains it is aborted. `Weft.shrink`
  /// goes on with the survivors in the next epoch.
  public static final class PeerLost extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int rank;
    private final int witness;

    /// With the world rank that was lost; nobody in particular noticed it.
    public PeerLost(String message, int rank, @Nullable Throwable cause) {
      this(message, rank, -1, cause);
    }

    /// With the world rank that was lost and the one that noticed it, or -1.
    public PeerLost(String message, int rank, int witness, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.rank = rank;
      this.witness = witness;
    }

    /// The lost world rank.
    public int rank() {
      return rank;
    }

    /// The world rank that gave it up first. Where a connection between two that live is broken, it
    /// may as well be the one to blame. -1 = nobody in particular, as when the rank left in order.
    public int witness() {
      return witness;
    }
  }

  /// This communicator was aborted, by a rank or because an operation's hard deadline passed. The
  /// cluster and its transports work on: create the communicator again.
  public static final class Aborted extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int culprit;

    /// With a message that says why; nobody in particular is to blame.
    public Aborted(String message, @Nullable Throwable cause) {
      this(message, -1, cause);
    }

    /// With the world rank that is to blame, or -1.
    public Aborted(String message, int culprit, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.culprit = culprit;
    }

    /// The world rank that is to blame: that aborted, was late or broke the protocol; -1 = nobody
    /// in particular.
    public int culprit() {
      return culprit;
    }
  }

  /// This rank is out of the job: the others have given it up, because it was silent for too long
  /// or they were told so, and go on without it; or it hears none of them. Every communicator of
  /// this rank is aborted and none can be made. Leave the job.
  public static final class Excluded extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int witness;

    /// With the world rank that gave this one up first, which may be itself.
    public Excluded(String message, int witness) {
      super(message, null);
      Objects.requireNonNull(message, "message");
      this.witness = witness;
    }

    /// The world rank that gave this one up first; itself, if it is cut off.
    public int witness() {
      return witness;
    }
  }

  /// This rank could not join its job: environment, secret, store or address. Nothing was started.
  /// Or, once it has joined, the job's store did not do what it was asked; all else works on.
  public static final class Setup extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final transient List<Integer> ranks;

    /// With a message that says what to set; it is about no rank.
    public Setup(String message, @Nullable Throwable cause) {
      this(message, List.of(), cause);
    }

    /// With the world ranks that it is about.
    public Setup(String message, List<Integer> ranks, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.ranks = List.copyOf(ranks);
    }

    /// World ranks that did not come, that disagree, or of which there are two; or the one that was
    /// lost meanwhile or could not be reached, and then the one that noticed it. Empty if it is
    /// about no rank.
    public List<Integer> ranks() {
      return ranks;
    }
  }
}
