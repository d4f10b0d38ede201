// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// An observer that protects operations from a defective observer: an observer that has thrown
/// receives no further event.
final class GuardedObserver implements CollectiveObserver {

  private static final Logger LOG = LoggerFactory.getLogger(GuardedObserver.class);

  private volatile CollectiveObserver observer;
  private final OperationObserver others;

  GuardedObserver(CollectiveObserver observer, OperationObserver others) {
    this.observer = observer;
    this.others = others;
  }

  private void threw(Throwable defect) {
    observer = NONE;
    LOG.error(
        "an observer of collectives threw, which it must not; it receives no further event",
        defect);
  }

  private void tell(Consumer<CollectiveObserver> news) {
    try {
      news.accept(observer);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }

  /// Hot path.
  @Override
  public boolean hearsStages() {
    return observer.hearsStages() || others.hearsStages();
  }

  @Override
  public void onOpen(long key, long epoch, int instance, List<Integer> ranks) {
    tell(o -> o.onOpen(key, epoch, instance, ranks));
  }

  /// Hot path.
  @Override
  public void submitted(ObservedOperation operation) {
    try {
      observer.submitted(operation);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
    others.submitted(operation);
  }

  @Override
  public void withdrawn(ObservedOperation operation, CommException cause, long nanos) {
    tell(o -> o.withdrawn(operation, cause, nanos));
    others.withdrawn(operation, cause, nanos);
  }

  /// Hot path.
  @Override
  public void reached(ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
    try {
      observer.reached(operation, stage, exchange, nanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
    others.reached(operation, stage, exchange, nanos);
  }

  /// Hot path.
  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
    try {
      observer.ended(operation, failure, nanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
    others.ended(operation, failure, nanos);
  }

  @Override
  public void onAborted(long key, CommException cause, long nowNanos) {
    tell(o -> o.onAborted(key, cause, nowNanos));
  }

  @Override
  public void onTold(int fromRank, CommException cause, long nowNanos) {
    tell(o -> o.onTold(fromRank, cause, nowNanos));
  }

  @Override
  public void onClosed(long key, long nowNanos) {
    tell(o -> o.onClosed(key, nowNanos));
  }

  @Override
  public void onPeerLost(int rank, int witness, String why, long nowNanos) {
    tell(o -> o.onPeerLost(rank, witness, why, nowNanos));
  }

  @Override
  public void onPeerLeft(int rank, long nowNanos) {
    tell(o -> o.onPeerLeft(rank, nowNanos));
  }

  /// Hot path.
  @Override
  public void onDutyCycle(long nowNanos) {
    try {
      observer.onDutyCycle(nowNanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }
}
