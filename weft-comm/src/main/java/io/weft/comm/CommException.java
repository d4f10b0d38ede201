// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import io.weft.text.Printable;
import java.io.Serial;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A communication failure. The subtypes are distinguished by the extent of the damage, and each
/// documents the objects that remain usable. Every message is one printable line, even if a name in
/// it has other characters. It names the operation, tensor, rank, host, waiting time and remedy, as
/// far as they apply.
public abstract sealed class CommException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  CommException(String message, @Nullable Throwable cause) {
    super(Printable.of(message), cause);
  }

  /// Returns a copy for the calling thread to throw, with that thread's stack trace, because the
  /// trace of the progress thread, which detected the failure, does not help a program. Each thread
  /// that waits for a handle throws a separate copy, and may add suppressed exceptions to it.
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

  /// The ranks disagree on this tensor (shape, dtype, operation, root). The operation fails on all
  /// ranks, except those on which a broadcast has completed (see `Communicator`). The communicator
  /// remains usable.
  public static final class Mismatch extends CommException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates it with a message that names the tensor and the claim of each side.
    public Mismatch(String message) {
      super(message, null);
      Objects.requireNonNull(message, "message");
    }
  }

  /// This operation failed on one rank for a local reason: the arena of its tensor was closed, or
  /// there is a defect. The operation fails on all ranks that had not completed it. The
  /// communicator remains usable.
  public static final class Broken extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int culprit;

    /// Creates it with the world rank on which the operation failed and, on that rank, the
    /// exception thrown.
    public Broken(String message, int culprit, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.culprit = culprit;
    }

    /// The world rank on which the operation failed.
    public int culprit() {
      return culprit;
    }
  }

  /// A time limit has passed. After the timeout of `await` the operation continues, and its buffers
  /// stay borrowed. An operation that waited for room was not submitted. A request of a channel has
  /// ended.
  public static final class TimedOut extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final transient List<Integer> missing;

    /// Creates it with the ranks that were silent, as far as known.
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

  /// A peer is lost for all ranks, or has left the job although this rank needs it. Every
  /// communicator that contains a lost peer is aborted. `Weft.shrink` continues with the survivors
  /// in the next epoch.
  public static final class PeerLost extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int rank;
    private final int witness;

    /// Creates it with the lost world rank and without a witness.
    public PeerLost(String message, int rank, @Nullable Throwable cause) {
      this(message, rank, -1, cause);
    }

    /// Creates it with the lost world rank, and the world rank that noticed the loss or -1.
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

    /// The world rank that first considered the peer lost. If a connection between two live ranks
    /// is broken, the witness may equally be at fault. If the peer left the job in order, -1.
    public int witness() {
      return witness;
    }
  }

  /// A communicator was aborted by a rank or because an operation's hard deadline passed, or one
  /// step or request failed, as the message says. The job and its transports remain usable. The
  /// program may create another communicator of the same ranks.
  public static final class Aborted extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int culprit;

    /// Creates it with a message that states the cause, and without a culprit.
    public Aborted(String message, @Nullable Throwable cause) {
      this(message, -1, cause);
    }

    /// Creates it with the world rank at fault, or -1.
    public Aborted(String message, int culprit, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.culprit = culprit;
    }

    /// The world rank at fault, which aborted, was late or violated the protocol; -1 = unknown or
    /// none.
    public int culprit() {
      return culprit;
    }
  }

  /// This rank is excluded from the job. Either the others consider it lost, because it was silent
  /// for too long or they were told so, and continue without it, or it receives nothing from any of
  /// them. Every communicator of this rank is aborted, and this rank cannot create another. The
  /// rank should leave the job.
  public static final class Excluded extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final int witness;

    /// Creates it with the world rank that first considered this one lost, possibly this rank
    /// itself.
    public Excluded(String message, int witness) {
      super(message, null);
      Objects.requireNonNull(message, "message");
      this.witness = witness;
    }

    /// The world rank that first considered this one lost, or this rank itself if it is cut off.
    public int witness() {
      return witness;
    }
  }

  /// This rank could not join its job, because of its environment, secret, store or address;
  /// nothing was started. Or, after the rank has joined, a call of the job's store failed;
  /// everything else remains usable.
  public static final class Setup extends CommException {
    @Serial private static final long serialVersionUID = 1L;
    private final transient List<Integer> ranks;

    /// Creates it with a message that states the setting to change, and without ranks.
    public Setup(String message, @Nullable Throwable cause) {
      this(message, List.of(), cause);
    }

    /// Creates it with the world ranks that `ranks` returns.
    public Setup(String message, List<Integer> ranks, @Nullable Throwable cause) {
      super(message, cause);
      Objects.requireNonNull(message, "message");
      this.ranks = List.copyOf(ranks);
    }

    /// World ranks that did not arrive, that disagree, or that exist twice; or the rank that was
    /// lost or could not be reached, followed by the one that noticed it. Empty if no rank is
    /// concerned.
    public List<Integer> ranks() {
      return ranks;
    }
  }
}
