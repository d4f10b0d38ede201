// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// An observer whose defects harm no operation: once it has thrown, it is told nothing any more.
final class GuardedObserver implements CollectiveObserver {

  private static final Logger LOG = LoggerFactory.getLogger(GuardedObserver.class);

  private volatile CollectiveObserver observer;

  GuardedObserver(CollectiveObserver observer) {
    this.observer = observer;
  }

  private void threw(Throwable defect) {
    observer = NONE;
    LOG.error("an observer of collectives threw, which it must not; it sees no more", defect);
  }

  private void tell(Consumer<CollectiveObserver> news) {
    try {
      news.accept(observer);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }

  @Override
  public void onOpen(long key, long epoch, int instance, List<Integer> ranks) {
    tell(o -> o.onOpen(key, epoch, instance, ranks));
  }

  /// Hot path.
  @Override
  public void onSubmitted(Subject operation) {
    try {
      observer.onSubmitted(operation);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }

  /// Hot path.
  @Override
  public int onBegin(Subject operation, long nowNanos) {
    try {
      return observer.onBegin(operation, nowNanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
      return 0;
    }
  }

  /// Hot path.
  @Override
  public void onStage(int number, int phase, long nowNanos) {
    try {
      observer.onStage(number, phase, nowNanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }

  /// Hot path.
  @Override
  public void onDone(int number, long nowNanos) {
    try {
      observer.onDone(number, nowNanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }

  @Override
  public void onFailed(int number, Subject operation, CommException cause, long nowNanos) {
    tell(o -> o.onFailed(number, operation, cause, nowNanos));
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
  public void onTurn(long nowNanos) {
    try {
      observer.onTurn(nowNanos);
    } catch (RuntimeException | Error defect) {
      threw(defect);
    }
  }
}
