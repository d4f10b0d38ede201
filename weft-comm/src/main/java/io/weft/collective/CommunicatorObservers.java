// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.comm.CommException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The observers of the communicators and peers of a rank, combined into one. An observer that has
/// thrown receives no further event. Observers are added before the progress thread starts.
public final class CommunicatorObservers implements CommunicatorObserver {

  private static final Logger LOG = LoggerFactory.getLogger(CommunicatorObservers.class);

  private volatile CommunicatorObserver[] all = {};

  /// Creates an empty set of observers.
  public CommunicatorObservers() {}

  /// Adds an observer.
  public synchronized void add(CommunicatorObserver observer) {
    List<CommunicatorObserver> more = new ArrayList<>(List.of(all));
    more.add(Objects.requireNonNull(observer, "observer"));
    all = more.toArray(CommunicatorObserver[]::new);
  }

  private synchronized void threw(CommunicatorObserver observer, Throwable defect) {
    List<CommunicatorObserver> fewer = new ArrayList<>(List.of(all));
    fewer.remove(observer);
    all = fewer.toArray(CommunicatorObserver[]::new);
    LOG.error("an observer of communicators threw, which is a defect; it is removed", defect);
  }

  private void tell(Consumer<CommunicatorObserver> news) {
    for (CommunicatorObserver observer : all) {
      try {
        news.accept(observer);
      } catch (RuntimeException | Error defect) {
        threw(observer, defect);
      }
    }
  }

  @Override
  public void onOpen(long key, long epoch, int instance, List<Integer> ranks) {
    Objects.requireNonNull(ranks, "ranks");
    tell(o -> o.onOpen(key, epoch, instance, ranks));
  }

  @Override
  public void onAborted(long key, CommException cause, long nowNanos) {
    Objects.requireNonNull(cause, "cause");
    tell(o -> o.onAborted(key, cause, nowNanos));
  }

  @Override
  public void onTold(int fromRank, CommException cause, long nowNanos) {
    Objects.requireNonNull(cause, "cause");
    tell(o -> o.onTold(fromRank, cause, nowNanos));
  }

  @Override
  public void onClosed(long key, long nowNanos) {
    tell(o -> o.onClosed(key, nowNanos));
  }

  @Override
  public void onPeerLost(int rank, int witness, String why, long nowNanos) {
    Objects.requireNonNull(why, "why");
    tell(o -> o.onPeerLost(rank, witness, why, nowNanos));
  }

  @Override
  public void onPeerLeft(int rank, long nowNanos) {
    tell(o -> o.onPeerLeft(rank, nowNanos));
  }

  /// Hot path.
  @Override
  public void onDutyCycle(long nowNanos) {
    for (CommunicatorObserver observer : all) {
      try {
        observer.onDutyCycle(nowNanos);
      } catch (RuntimeException | Error defect) {
        threw(observer, defect);
      }
    }
  }
}
