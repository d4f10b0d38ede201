// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An observer that records all events, and checks properties of the events of every service.
public final class EventRecorder implements OperationObserver {

  /// A recorded event.
  ///
  /// @param what "SUBMITTED", a stage, "DONE", or the name of the failure's class
  public record Event(
      String what,
      ObservedOperation.Service service,
      long id,
      String name,
      int exchange,
      long nanos,
      int lastHeard) {}

  private final List<Event> events = new ArrayList<>();

  private synchronized void add(String what, ObservedOperation it, int exchange, long nanos) {
    events.add(new Event(what, it.service(), it.id(), it.name(), exchange, nanos, it.lastHeard()));
  }

  @Override
  public void submitted(ObservedOperation operation) {
    add("SUBMITTED", operation, 0, operation.submittedNanos());
  }

  @Override
  public void withdrawn(ObservedOperation operation, CommException cause, long nanos) {
    add("WITHDRAWN", operation, 0, nanos);
  }

  @Override
  public void reached(ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
    add(stage.toString(), operation, exchange, nanos);
  }

  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
    add(failure == null ? "DONE" : failure.getClass().getSimpleName(), operation, 0, nanos);
  }

  /// Returns the events of the operations with this name in the order of their arrival.
  public synchronized List<Event> of(String name) {
    return events.stream().filter(event -> event.name().equals(name)).toList();
  }

  /// Returns the kinds of these events.
  public List<String> words(String name) {
    return of(name).stream().map(Event::what).toList();
  }

  /// Checks the events of one operation with this name: it begins with its submission, ends once
  /// with its last event, reaches no stage of an exchange twice, and its times increase.
  public List<String> requireWhole(String name) {
    List<Event> all = of(name);
    assertThat(all).as(name).isNotEmpty();
    assertThat(all).as(name).extracting(Event::id).containsOnly(all.getFirst().id());
    assertThat(all).as(name).extracting(Event::nanos).isSorted();
    assertThat(all).extracting(event -> event.what() + event.exchange()).doesNotHaveDuplicates();
    assertThat(words(name)).startsWith("SUBMITTED").endsWith(all.getLast().what());
    assertThat(all.stream().filter(EventRecorder::isEnd)).as("%s", all).hasSize(1);
    assertThat(isEnd(all.getLast())).as("%s", all).isTrue();
    return words(name);
  }

  private static boolean isEnd(Event event) {
    return switch (event.what()) {
      case "SUBMITTED", "STARTED", "EXCHANGE", "NEGOTIATED", "SENT", "REDUCED" -> false;
      default -> true;
    };
  }
}
