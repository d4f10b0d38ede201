// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.frame.ItemReader;
import io.weft.rendezvous.frame.ItemType;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.rendezvous.route.Route;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// The decoder of peers' messages. Nothing in them is trusted: a peer that sends an impossible
/// message is given up. Confined to the progress thread.
final class RendezvousInbound {

  private static final String UNREADABLE =
      "it sent a message of the rendezvous that cannot be read";

  private final MeshRendezvous owner;
  private final ItemReader in = new ItemReader();

  RendezvousInbound(MeshRendezvous owner) {
    this.owner = owner;
  }

  /// Hot path.
  void onMessage(RendezvousPeer from, MemorySegment message) {
    in.begin(message);
    ItemType type = in.next();
    while (type != null && !from.isGone()) {
      hear(from, type);
      if (!in.isSound()) {
        break;
      }
      type = in.next();
    }
    if (!in.isSound()) {
      owner.mistrust(from, UNREADABLE);
    }
  }

  private void hear(RendezvousPeer from, ItemType type) {
    switch (type) {
      case EDGE -> edge(from);
      case REQUEST, REQUEST_INTO -> request(from, type == ItemType.REQUEST_INTO);
      case DESTINATION -> destination(from);
      case RELEASE -> {
        int token = in.number();
        if (in.isSound()) {
          owner.source().onRelease(from, token);
        }
      }
      case CANCEL -> {
        int id = in.number();
        long step = in.longNumber();
        if (in.isSound()) {
          owner.termination().onCancel(from, id, step);
        }
      }
      case INLINE -> inline(from);
      case META -> meta(from);
      case SHAPE -> shape(from);
      case DEAD -> {
        int id = in.number();
        if (in.isSound()) {
          owner.destination().onDead(from, id);
        }
      }
      case FAILED -> {
        int id = in.number();
        String why = in.text();
        if (in.isSound()) {
          owner.destination().onFailed(from, id, why);
        }
      }
    }
  }

  private void edge(RendezvousPeer from) {
    int number = in.number();
    long incarnation = in.longNumber();
    String name = in.text();
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (!in.isSound() || length == 0 || length > Edge.MAX_NAME_BYTES) {
      owner.mistrust(from, UNREADABLE);
      return;
    }
    Route route = owner.routes().of(new Edge(owner.rank(), incarnation, from.rank(), name));
    if (!from.define(number, route)) {
      owner.mistrust(from, "it numbered an edge out of order, or too many edges");
    }
  }

  private void request(RendezvousPeer from, boolean hasDestination) {
    int id = in.number();
    int number = in.number();
    Route route = from.route(number);
    long step = in.longNumber();
    long frame = in.longNumber();
    long iteration = in.longNumber();
    TensorSpec expected = null;
    RemoteRegion into = null;
    boolean writes = hasDestination;
    if (hasDestination) {
      expected = in.signature(route == null ? null : route.expected());
      into = in.region();
    } else {
      writes = in.one() != 0;
    }
    if (!in.isSound() || !isPlace(into, expected)) {
      owner.mistrust(from, UNREADABLE);
    } else if (route == null || step < 0) {
      owner.mistrust(from, "it requested an unknown edge or step");
    } else {
      var key = new RendezvousKey(route.edge(), step, frame, iteration);
      var destination = new ParkedRequest.Destination(writes, expected, into);
      owner.enter(new ParkedRequest(from, id, route, key, destination));
    }
  }

  /// Returns whether the region, if present, is as long as the tensor.
  private static boolean isPlace(@Nullable RemoteRegion region, @Nullable TensorSpec like) {
    return region == null || like == null || region.bytes() == like.bytes();
  }

  private void destination(RendezvousPeer from) {
    int token = in.number();
    int id = in.number();
    TensorSpec like = in.signature(null);
    RemoteRegion into = in.region();
    if (!in.isSound() || !isPlace(into, like)) {
      owner.mistrust(from, UNREADABLE);
    } else {
      owner.source().onDestination(from, token, id, like, into);
    }
  }

  private void inline(RendezvousPeer from) {
    int id = in.number();
    TensorSpec like = in.signature(owner.destination().expected(id));
    MemorySegment data = in.bytes(like.bytes());
    if (in.isSound()) {
      owner.destination().onInline(from, id, like, data);
    }
  }

  private void meta(RendezvousPeer from) {
    int id = in.number();
    int token = in.number();
    TensorSpec like = in.signature(owner.destination().expected(id));
    RemoteRegion region = in.region();
    if (!in.isSound() || !isPlace(region, like)) {
      owner.mistrust(from, UNREADABLE);
    } else {
      owner.destination().onMeta(from, id, token, like, region);
    }
  }

  private void shape(RendezvousPeer from) {
    int id = in.number();
    int token = in.number();
    TensorSpec like = in.signature(owner.destination().expected(id));
    if (in.isSound()) {
      owner.destination().onShape(from, id, token, like);
    }
  }
}
