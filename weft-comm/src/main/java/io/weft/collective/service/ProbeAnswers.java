// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.CollectiveFrame;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The members' replies to probes of one operation. Confined to the progress thread.
final class ProbeAnswers {

  private final int rank;
  private final CollectiveFrame.@Nullable Progress[] answers;

  ProbeAnswers(int rank, int size) {
    this.rank = rank;
    this.answers = new CollectiveFrame.Progress[size];
  }

  void put(int member, CollectiveFrame.Progress progress) {
    answers[member] = progress;
  }

  /// Returns the members that have replied that they did not submit it.
  Stream<Integer> unsubmitted() {
    return IntStream.range(0, answers.length)
        .filter(m -> answers[m] == CollectiveFrame.Progress.NOT_SUBMITTED)
        .boxed();
  }

  /// Returns the members that never began it or never replied.
  List<Integer> missing(List<Integer> waitingFor) {
    return IntStream.range(0, answers.length)
        .filter(m -> m != rank)
        .filter(m -> isMissing(answers[m]) || isClosedBefore(answers[m], m, waitingFor))
        .boxed()
        .toList();
  }

  private static boolean isMissing(CollectiveFrame.@Nullable Progress answer) {
    return answer == null
        || answer == CollectiveFrame.Progress.NOT_SUBMITTED
        || answer == CollectiveFrame.Progress.BEHIND;
  }

  /// Returns whether this rank waits for a member that has closed the communicator. A member that
  /// closed it may have finished the operation first.
  private static boolean isClosedBefore(
      CollectiveFrame.@Nullable Progress answer, int member, List<Integer> waitingFor) {
    return answer == CollectiveFrame.Progress.CLOSED && waitingFor.contains(member);
  }

  /// Describes the known state of a silent member.
  String excuse(int member) {
    CollectiveFrame.Progress answer = answers[member];
    if (answer == null) {
      return "did not answer";
    }
    return switch (answer) {
      case NOT_SUBMITTED -> "has not submitted it";
      case RUNNING -> "has submitted it and waits too";
      case ACKNOWLEDGED -> "has finished it";
      case CLOSED -> "has closed this communicator";
      case BEHIND ->
          "has not begun it, because others precede it or its limit of operations is reached";
    };
  }

  @Override
  public String toString() {
    return Arrays.toString(answers);
  }
}
