// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

/// The queues of a device that limit the number of a rank's peers.
///
/// @param device its name
/// @param queuePairs number of queue pairs that the device allows
/// @param completions number of entries of the completion queue of sends
/// @param receives number of receives in the shared receive queue
record PeerLimits(String device, int queuePairs, int completions, int receives) {

  /// The most entries of the completion queue of sends.
  static final int MAX_COMPLETIONS = 1 << 16;

  /// The most receives of the shared queue: one less than a power of two, because devices round up
  /// and keep one place free.
  static final int MAX_RECEIVES = (1 << 14) - 1;

  /// The fewest receives of the shared queue for each peer.
  static final int RECEIVES = 8;

  /// Returns the reason why the rank cannot have this many peers, with the remedy; empty if it can.
  /// All posted sends of failing queue pairs may complete at once, and a completion queue that
  /// overflows loses all its queue pairs.
  String refusal(int peers) {
    if (peers > queuePairs) {
      return refusal(peers, 1, "queue pairs", queuePairs, "max_qp");
    }
    if (peers > completions / VerbsSettings.SENDS) {
      return refusal(
          peers,
          VerbsSettings.SENDS,
          "entries of the completion queue",
          completions,
          "max_cqe, at most " + MAX_COMPLETIONS);
    }
    if (peers > receives / RECEIVES) {
      return refusal(
          peers,
          RECEIVES,
          "receives of the shared receive queue",
          receives,
          "max_srq_wr, at most " + MAX_RECEIVES);
    }
    return "";
  }

  private String refusal(int peers, int each, String things, int available, String limit) {
    return peers
        + " peers of this rank need "
        + (long) peers * each
        + " "
        + things
        + ", and "
        + device
        + " has "
        + available
        + " ("
        + limit
        + "); use fewer ranks, the setting connections=used, or --transport tcp";
  }
}
