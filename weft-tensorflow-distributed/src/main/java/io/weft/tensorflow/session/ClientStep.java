// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.comm.CommException;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.StepException.Reason;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Result;
import org.tensorflow.Tensor;

/// One step on the client's side. The client tells the other tasks to run their parts and runs its
/// own part on the caller's thread. The step completes when all tasks have reported.
final class ClientStep {

  /// The time for which a failed step waits for reports of the other tasks.
  private static final Duration EXPLANATIONS = Duration.ofMillis(300);

  private final WeftServer server;
  private final Rendezvous rendezvous;
  private final @Nullable HostedPart part;
  private final PreparedCall call;
  private final Map<Integer, TensorNames> names;
  private final int session;
  private final Duration limit;
  private final long deadline;
  private final long number;
  private final Set<Integer> ranks;
  private final StepAnswers answers;

  ClientStep(
      WeftServer server,
      @Nullable HostedPart part,
      PreparedCall call,
      Map<Integer, TensorNames> names,
      int session,
      Duration limit) {
    this.server = server;
    this.rendezvous = server.weft().rendezvous();
    this.part = part;
    this.call = call;
    this.names = names;
    this.session = session;
    this.limit = limit;
    this.deadline = StepDeadlines.in(limit);
    this.number = server.nextTicket();
    this.ranks = Set.copyOf(call.others().keySet());
    this.answers = new StepAnswers(ranks, this::stop);
  }

  long number() {
    return number;
  }

  StepAnswers answers() {
    return answers;
  }

  /// Aborts the step on all tasks. Runs on any thread.
  private void stop() {
    String why = answers.failure().map(Failure::text).orElse("");
    rendezvous.abort(number, why);
    ranks.forEach(rank -> server.mailboxes().send(rank, new ControlMessage.Abort(number, why)));
  }

  Fetched run(Map<String, ? extends Tensor> feeds) throws InterruptedException, StepFailed {
    server.expect(number, answers, ranks);
    List<PreparedCall.Remote> remote = call.remoteFetches(names, number);
    List<RendezvousKey> keys = remote.stream().map(PreparedCall.Remote::key).toList();
    @Nullable Result result = null;
    boolean fetched = false;
    try (var arriving = new Gathering(rendezvous, keys, limit)) {
      call.others().forEach((rank, its) -> tell(rank, its, feeds));
      result = runHere(feeds);
      finish(arriving);
      Fetched all = fetched(result, remote, arriving);
      fetched = true;
      return all;
    } finally {
      if (!fetched && result != null) {
        result.close();
      }
      server.forget(number);
      rendezvous.end(number);
      ranks.forEach(rank -> server.mailboxes().send(rank, new ControlMessage.End(number)));
    }
  }

  private void tell(int rank, GraphCall its, Map<String, ? extends Tensor> feeds) {
    server
        .mailboxes()
        .send(
            rank,
            new ControlMessage.Run(number, session, call.number(), ClampedDuration.nanos(limit)));
    TensorNames at = Objects.requireNonNull(names.get(rank));
    List<RendezvousKey> keys = at.feeds(its.feeds(), number);
    for (int i = 0; i < keys.size(); i++) {
      TensorView fed = TensorViews.of(Objects.requireNonNull(feeds.get(its.feeds().get(i))));
      TensorLease copy = server.weft().allocate(fed.dtype(), fed.shape());
      copy.view().data().copyFrom(fed.data());
      rendezvous.publish(keys.get(i), copy.view(), copy::close);
    }
  }

  private @Nullable Result runHere(Map<String, ? extends Tensor> feeds)
      throws InterruptedException, StepFailed {
    HostedPart here = part;
    PartCall own = call.own();
    if (here == null || own == null) {
      return null;
    }
    try {
      return here.run(own, number, deadline, feeds);
    } catch (RuntimeException e) {
      CommException received = here.part().failure();
      answers.fail(Failure.of(e, received, server.weft().rank(), StepDeadlines.isOver(deadline)));
      throw failed(e);
    }
  }

  /// Waits for the other tasks and for the tensors fetched from them.
  private void finish(Gathering arriving) throws InterruptedException, StepFailed {
    if (!answers.await(deadline)) {
      int rank = answers.open().stream().findFirst().orElse(server.weft().rank());
      answers.fail(new Failure(Reason.TIMED_OUT, rank, false, "no answer for " + limit));
    }
    if (answers.failure().isPresent()) {
      throw failed(null);
    }
    try {
      arriving.await();
    } catch (CommException e) {
      answers.fail(Failure.of(e, e, server.weft().rank(), StepDeadlines.isOver(deadline)));
      throw failed(e);
    }
  }

  private StepFailed failed(@Nullable Throwable cause) throws InterruptedException {
    answers.linger(StepDeadlines.in(EXPLANATIONS));
    return new StepFailed(answers.failure().orElseThrow(), cause);
  }

  private Fetched fetched(
      @Nullable Result result, List<PreparedCall.Remote> remote, Gathering arriving) {
    List<@Nullable Tensor> places =
        new ArrayList<>(Collections.nCopies(call.whole().fetches().size(), null));
    List<AutoCloseable> owned = new ArrayList<>();
    for (int i = 0; i < remote.size(); i++) {
      Tensor copy = TensorViews.copyOf(arriving.tensor(i).view());
      owned.add(copy);
      places.set(remote.get(i).fetch(), copy);
    }
    if (result != null) {
      owned.add(result);
      int next = 0;
      for (int i = 0; i < places.size(); i++) {
        if (places.get(i) == null) {
          places.set(i, result.get(next++));
        }
      }
    }
    return new Fetched(places.stream().map(Objects::requireNonNull).toList(), owned);
  }
}
