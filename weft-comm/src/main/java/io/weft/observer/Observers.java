// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

import io.weft.comm.CommException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The observers of a rank, combined into one. A defect of one observer affects neither operations
/// nor other observers: an observer that has thrown is not notified any more. Thread-safe.
public final class Observers implements OperationObserver {

  private static final Logger LOG = LoggerFactory.getLogger(Observers.class);

  private volatile OperationObserver[] all = {};

  /// Creates an empty set of observers.
  public Observers() {}

  /// Returns the combination of these observers.
  public static Observers of(OperationObserver... observers) {
    var all = new Observers();
    List.of(observers).forEach(all::add);
    return all;
  }

  /// Adds an observer, which is notified from now on.
  public synchronized void add(OperationObserver observer) {
    List<OperationObserver> more = new ArrayList<>(List.of(all));
    more.add(Objects.requireNonNull(observer, "observer"));
    all = more.toArray(OperationObserver[]::new);
  }

  /// Removes an observer. Events in progress may still reach it.
  public synchronized void remove(OperationObserver observer) {
    List<OperationObserver> fewer = new ArrayList<>(List.of(all));
    fewer.remove(Objects.requireNonNull(observer, "observer"));
    all = fewer.toArray(OperationObserver[]::new);
  }

  /// Hot path.
  @Override
  public boolean hearsStages() {
    for (OperationObserver observer : all) {
      if (observer.hearsStages()) {
        return true;
      }
    }
    return false;
  }

  private void threw(OperationObserver observer, Throwable defect) {
    remove(observer);
    LOG.error("an observer of operations threw, which is a defect; it is removed", defect);
  }

  /// Hot path.
  @Override
  public void submitted(ObservedOperation operation) {
    for (OperationObserver observer : all) {
      try {
        observer.submitted(operation);
      } catch (RuntimeException | Error defect) {
        threw(observer, defect);
      }
    }
  }

  @Override
  public void withdrawn(ObservedOperation operation, CommException cause, long nanos) {
    for (OperationObserver observer : all) {
      try {
        observer.withdrawn(operation, cause, nanos);
      } catch (RuntimeException | Error defect) {
        threw(observer, defect);
      }
    }
  }

  /// Hot path.
  @Override
  public void reached(ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
    for (OperationObserver observer : all) {
      try {
        observer.reached(operation, stage, exchange, nanos);
      } catch (RuntimeException | Error defect) {
        threw(observer, defect);
      }
    }
  }

  /// Hot path.
  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
    for (OperationObserver observer : all) {
      try {
        observer.ended(operation, failure, nanos);
      } catch (RuntimeException | Error defect) {
        threw(observer, defect);
      }
    }
  }
}
