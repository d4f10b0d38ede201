// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.testkit.sim.clock.ScheduledEvent;
import io.weft.transport.region.LocalRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A remote write. Its bytes are read as late as the contract allows, when the last one is sent,
/// and land as early as possible, long before the notification. A test therefore detects a rank
/// that accesses either memory too early.
final class WriteTransfer extends SimTransfer {

  private final int immediate;
  private final Departure departure = new Departure();
  private boolean reached;
  private boolean captured;
  private boolean landed;

  WriteTransfer(SimEndpoint from, Terms terms, int immediate) {
    super(PacketKind.WRITE, from, terms);
    this.immediate = immediate;
  }

  @Override
  long wireBytes() {
    return HEADER_BYTES + length;
  }

  void departs() {
    from.transport().network().events().at(leftNanos, departure);
  }

  @Override
  void tear(long nowNanos) {
    if (!captured && nowNanos > startNanos) {
      capture(Math.min(length, link.bytesWithin(nowNanos - startNanos)));
    }
  }

  private void capture(long bytes) {
    captured = true;
    MemorySegment left = region.segment().asSlice(offset, bytes);
    if (reached) {
      land(left);
    } else {
      data = left.toArray(JAVA_BYTE);
    }
  }

  @Override
  void reached() {
    reached = true;
    if (captured) {
      land(MemorySegment.ofArray(data));
    }
  }

  private void land(MemorySegment bytes) {
    SimEndpoint end = receiver();
    LocalRegion target = target(end);
    long count = bytes.byteSize();
    if (target == null || !target.takes(remoteOffset, count) || !target.visit()) {
      return;
    }
    MemorySegment.copy(bytes, 0, target.segment(), remoteOffset, count);
    target.leave();
    landed = count == length;
    end.transport()
        .network()
        .journal()
        .record(
            landed ? Journal.What.LANDED : Journal.What.TORN,
            end.transport().node(),
            from.transport().node().rank(),
            count,
            null);
  }

  private @Nullable LocalRegion target(SimEndpoint end) {
    return end.isClosed() ? null : end.transport().table().find(remoteKey);
  }

  /// Notifies the receiver of the write when it is polled, if the region is still open.
  @Override
  public void take() {
    SimEndpoint end = receiver();
    if (end.isClosed()) {
      return;
    }
    end.countReceived(wireBytes());
    from.freed(0);
    if (landed && target(end) != null) {
      end.transport().notified(end, immediate);
      if (from.transport().network().tellsTwice(from)) {
        end.transport().notified(end, immediate);
      }
    }
  }

  /// The event that the last byte has been sent, after which the source memory may be reused.
  private final class Departure extends ScheduledEvent implements PendingArrival {
    @Override
    protected void happen() {
      if (!isCompleted() && !captured && leftNanos <= from.cutNanos()) {
        capture(length);
        from.transport().arrive(this);
      }
    }

    @Override
    public void take() {
      complete(null);
    }
  }
}
