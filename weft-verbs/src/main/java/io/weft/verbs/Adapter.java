// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Capabilities;
import io.weft.verbs.device.AsyncEvent;
import io.weft.verbs.device.CompletionChannel;
import io.weft.verbs.device.CompletionQueue;
import io.weft.verbs.device.Device;
import io.weft.verbs.device.DeviceLimits;
import io.weft.verbs.device.Gid;
import io.weft.verbs.device.Port;
import io.weft.verbs.device.ProtectionDomain;
import io.weft.verbs.device.SharedReceiveQueue;
import io.weft.verbs.device.VerbsException;
import io.weft.verbs.ffm.Ibverbs;
import io.weft.verbs.model.Polling;
import io.weft.verbs.model.SharedSendBuffer;
import io.weft.verbs.ring.RingCredits;
import io.weft.verbs.ring.VerbsOutbound;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The device resources of one opening of the transport: a port with its address, a protection
/// domain, one receive queue for all peers, and one completion queue for all sends and one for all
/// receives [PSLITE §3.1]. Closing it closes all its resources.
final class Adapter implements AutoCloseable {

  private static final int SHARED_BUFFER_BYTES = 1 << 20;

  private final Device device;
  private final Port port;
  private final Gid gid;
  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final CompletionQueue sends;
  private final SharedReceiveQueue receiveQueue;
  private final CompletionQueue receives;
  private final PeerLimits peers;
  private @Nullable SharedSendBuffer shared;
  private int endpoints;

  private Adapter(Device device, Port port, Gid gid) {
    this.device = device;
    this.port = port;
    this.gid = gid;
    domain = device.protectionDomain();
    channel = device.completionChannel();
    DeviceLimits limits = device.limits();
    sends = channel.queue(Math.min(limits.completions(), PeerLimits.MAX_COMPLETIONS));
    receiveQueue = domain.sharedReceiveQueue(receives(device.name(), limits));
    // Twice the capacity, because the queue may be filled while completions are not polled yet.
    receives = channel.queue(Math.min(limits.completions(), 2 * receiveQueue.capacity()));
    peers =
        new PeerLimits(
            device.name(), limits.queuePairs(), sends.capacity(), receiveQueue.capacity());
    int unused = receiveQueue.fill();
  }

  /// Returns the number of receives for all peers. Throws `VerbsException` if the device has no
  /// shared receive queue that is long enough for one.
  static int receives(String device, DeviceLimits limits) {
    int receives =
        Math.min(limits.receives(), Math.min(limits.completions() / 2, PeerLimits.MAX_RECEIVES));
    if (limits.receiveQueues() < 1 || receives < PeerLimits.RECEIVES) {
      throw new VerbsException(
          device
              + " allows "
              + limits.receiveQueues()
              + " shared receive queues (max_srq) of "
              + limits.receives()
              + " receives (max_srq_wr) and completion queues of "
              + limits.completions()
              + " entries (max_cqe), but one of at least "
              + PeerLimits.RECEIVES
              + " receives with twice as many completions is needed; use another device or"
              + " --transport tcp");
    }
    return receives;
  }

  /// Opens the configured device, or else the first with an active port. Throws `VerbsException`
  /// with the reason.
  static Adapter open(Ibverbs library, VerbsSettings settings) {
    List<String> names =
        settings.device().isEmpty() ? Device.names(library) : List.of(settings.device());
    String found = "";
    for (String name : names) {
      Device device = Device.open(library, name);
      try {
        Port port = port(device, settings);
        if (port.isActive()) {
          return new Adapter(device, port, gid(device, port, settings));
        }
        found += "; port " + port.number() + " of " + name + " is " + port.stateWords();
      } catch (RuntimeException e) {
        device.close();
        throw e;
      }
      device.close();
    }
    throw new VerbsException(
        "there is no RDMA device with an active port"
            + (found.isEmpty() ? ": 'ibv_devices' lists none" : found));
  }

  /// Returns the configured port, or else the first active one, or else the first.
  private static Port port(Device device, VerbsSettings settings) {
    if (settings.port() > 0) {
      return device.port(settings.port());
    }
    for (int number = 1; number <= device.limits().ports(); number++) {
      Port port = device.port(number);
      if (port.isActive()) {
        return port;
      }
    }
    return device.port(1);
  }

  private static Gid gid(Device device, Port port, VerbsSettings settings) {
    List<Gid> gids = device.gids(port);
    if (settings.gidIndex() < 0) {
      return Gid.preferred(gids)
          .orElseThrow(
              () ->
                  new VerbsException(
                      "port "
                          + port.number()
                          + " of "
                          + device.name()
                          + " has no GID; give its interface an IPv4 address"));
    }
    return gids.stream()
        .filter(gid -> gid.index() == settings.gidIndex())
        .findFirst()
        .orElseThrow(
            () ->
                new VerbsException(
                    "port "
                        + port.number()
                        + " of "
                        + device.name()
                        + " has no GID with index "
                        + settings.gidIndex()
                        + ", there are "
                        + gids));
  }

  /// Creates a queue pair with its rings for one more endpoint. Throws `VerbsException`, also if
  /// the port is not active or the device's queues do not suffice.
  ///
  /// @param sentOfAll receives the count of posted bytes
  QueuePairLink link(VerbsSettings settings, LongConsumer sentOfAll) {
    String refusal = peers.refusal(endpoints + 1);
    String trouble = refusal.isEmpty() ? portTrouble() : refusal;
    if (!trouble.isEmpty()) {
      throw new VerbsException(trouble);
    }
    QueuePairLink link = new QueuePairLink(this, settings, sentOfAll);
    endpoints++;
    return link;
  }

  /// Returns the send buffer that all endpoints share in some models. Throws `VerbsException`.
  SharedSendBuffer sharedSendBuffer(VerbsSettings settings) {
    SharedSendBuffer some = shared;
    if (some == null) {
      int bytes = Math.max(settings.ringBytes(), SHARED_BUFFER_BYTES);
      some = new SharedSendBuffer(domain, bytes, VerbsSettings.INLINE_BYTES);
      shared = some;
    }
    return some;
  }

  /// Starts polling for completions.
  Polling polling(VerbsSettings settings) {
    return settings.model().polling(channel, sends, receives);
  }

  /// Returns the next asynchronous event of the device; null if none is pending. Never waits.
  @Nullable AsyncEvent takeEvent() {
    return device.takeEvent();
  }

  /// Returns the reason why this event ends all queue pairs; empty if it does not, because it
  /// concerns another port or the port is active again.
  String fatal(AsyncEvent event) {
    return switch (event.kind()) {
      case COMPLETION_QUEUE_FAILED, RECEIVE_QUEUE_FAILED, DEVICE_FAILED ->
          device + " says: " + event.words();
      case PORT_DOWN -> event.element() == port.number() ? portTrouble() : "";
      case QUEUE_PAIR_FAILED, PORT_ACTIVE, PORT_CHANGED, NOTICE -> "";
    };
  }

  /// Fails a queue pair after an error completion, because of the port if that is down.
  void fail(QueuePairLink link, String why) {
    if (link.failure().isEmpty()) {
      String trouble = portTrouble();
      link.fail(trouble.isEmpty() ? why : trouble + "; " + why);
    }
  }

  /// Queries the device and returns the reason why the port is not active; empty if it is.
  private String portTrouble() {
    try {
      Port now = device.port(port.number());
      return now.isActive()
          ? ""
          : "port "
              + now.number()
              + " of "
              + device.name()
              + " is "
              + now.stateWords()
              + "; see 'ibv_devinfo', 'ip link' and the cable, then start again";
    } catch (VerbsException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /// Records that an endpoint has ended.
  void giveBack() {
    endpoints--;
  }

  Capabilities capabilities(VerbsSettings settings) {
    return new Capabilities(
        device.name(),
        true,
        RingCredits.maxPayload(settings.ringBytes()),
        8 << 10,
        Long.MAX_VALUE,
        VerbsOutbound.MAX_IN_FLIGHT,
        0,
        false);
  }

  String name() {
    return device.name();
  }

  Port port() {
    return port;
  }

  Gid gid() {
    return gid;
  }

  ProtectionDomain domain() {
    return domain;
  }

  CompletionQueue sends() {
    return sends;
  }

  SharedReceiveQueue receiveQueue() {
    return receiveQueue;
  }

  CompletionQueue receives() {
    return receives;
  }

  @Override
  public void close() {
    try {
      device.close();
    } finally {
      SharedSendBuffer some = shared;
      if (some != null) {
        shared = null;
        some.close();
      }
    }
  }
}
