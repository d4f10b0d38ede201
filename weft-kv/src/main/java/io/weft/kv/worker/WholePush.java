// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.comm.CommException;
import io.weft.kv.frame.KvOp;
import io.weft.kv.worker.KvHandle.Fate;
import io.weft.kv.worker.ShardRequest.What;
import org.jspecify.annotations.Nullable;

/// The consequence of a push or pull that has failed on some shards. A push of a synchronous table
/// is all or nothing. If no shard has taken it, its clock is free for the next push. If only some
/// shards have taken it, the shards can never reach the same clock again, and the table ends. A
/// push of another table may have been applied on some shards only, which its error reports. Any
/// thread.
final class WholePush {

  private static final String ENDED = "the table has ended: ";

  private final TableClock clock;
  private final KvOp op;
  private final long at;
  private final int requests;
  private int begun;
  private int notDone;
  private int unknown;
  private @Nullable String ended;

  /// @param at the worker's clock
  /// @param requests the number of its requests; requests that are never started count as not done
  WholePush(TableClock clock, KvOp op, long at, int requests) {
    this.clock = clock;
    this.op = op;
    this.at = at;
    this.requests = requests;
  }

  /// Returns a message that contains the reason of the table's end.
  static String ended(String words, String why) {
    return words + ": " + ENDED + why;
  }

  /// Records the start of a request.
  void begun() {
    begun++; // by the calling thread, before `sealed`
  }

  /// Records the failure of a started request.
  synchronized void failed(What what, Fate fate, CommException cause) {
    switch (fate) {
      case DONE -> {}
      case NOT_DONE -> notDone++;
      case UNKNOWN -> unknown++;
      case ENDED -> ended = ended == null ? reason(String.valueOf(cause.getMessage())) : ended;
    }
  }

  private static String reason(String message) {
    int at = message.indexOf(ENDED);
    return at < 0 ? message : message.substring(at + ENDED.length());
  }

  /// Returns the handle's failure, after all requests have completed and some have failed.
  ///
  /// @param first failure
  synchronized CommException judge(CommException first) {
    if (ended != null) {
      clock.end(ended);
    }
    String why = clock.why();
    if (why != null) {
      return String.valueOf(first.getMessage()).contains(ENDED) ? first : said(first, ENDED + why);
    }
    if (op == KvOp.PULL) {
      return first;
    }
    int missing = notDone + requests - begun;
    return clock.isSynchronous() && !op.editsRows()
        ? ofClock(first, missing)
        : ofShards(first, missing);
  }

  private CommException ofClock(CommException first, int missing) {
    if (missing + unknown == 0) {
      return said(
          first,
          "all shards have taken the push, which is this worker's clock %d: do not push it again"
              .formatted(at));
    }
    boolean nowhere = missing == requests;
    if (nowhere && clock.giveBack(at)) {
      return said(first, "no shard has taken the push, which may be pushed again");
    }
    String why =
        "the push of clock %d is not whole: %s; start again from the last checkpoint"
            .formatted(
                at,
                nowhere
                    ? "no shard has taken it, and the worker had begun the next one"
                    : counts(missing));
    clock.end(first.getMessage() + "; " + why);
    return said(first, ENDED + why);
  }

  private CommException ofShards(CommException first, int missing) {
    return missing == requests ? first : said(first, "of it, " + counts(missing));
  }

  private String counts(int missing) {
    return "%d of %d parts were done, %d were not, and of %d it is not known"
        .formatted(requests - missing - unknown, requests, missing, unknown);
  }

  private static CommException said(CommException first, String more) {
    String text = first.getMessage() + "; " + more;
    return switch (first) {
      case CommException.Mismatch _ -> new CommException.Mismatch(text);
      case CommException.TimedOut late -> new CommException.TimedOut(text, late.missing());
      default -> first;
    };
  }
}
