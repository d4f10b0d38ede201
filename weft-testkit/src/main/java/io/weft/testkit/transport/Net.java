// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.fail;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// The nodes of one test, all polled by the test's thread.
final class Net implements AutoCloseable {

  private static final long LIMIT_SECONDS = 20;

  private final TransportProvider provider;
  private final String bind;
  private final long limitSeconds;
  private final List<Node> nodes = new ArrayList<>();

  Net(TransportProvider provider, String bind) {
    this(provider, bind, 1);
  }

  /// @param factor of all time limits
  Net(TransportProvider provider, String bind, int factor) {
    this.provider = provider;
    this.bind = bind;
    limitSeconds = factor * LIMIT_SECONDS;
  }

  Node node(int number) {
    return add(Node.open(provider, bind, number));
  }

  Node node(Credentials credentials) {
    return add(Node.open(provider, bind, credentials));
  }

  Node add(Node node) {
    nodes.add(node);
    return node;
  }

  /// Connects `from` to node `number` at `to` until both ends are usable.
  Endpoint connect(Node from, Node to, int number) {
    int accepted = to.connected().size();
    Endpoint endpoint = from.transport().connect(to.address(), number);
    until(
        () -> from.connected().contains(endpoint) && to.connected().size() > accepted,
        "both ends are connected");
    return endpoint;
  }

  /// Polls all nodes until `condition` is true; fails after 20 seconds times the factor.
  void until(BooleanSupplier condition, String what) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      int work = poll();
      if (System.nanoTime() - start > limitSeconds * 1_000_000_000L) {
        fail(
            "not within %d s: %s; events: %s",
            limitSeconds, what, nodes.stream().map(Node::events).toList());
      }
      if (work == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /// Posts until the post is accepted.
  void post(Supplier<PostResult> post) {
    PostResult[] last = new PostResult[1];
    until(
        () -> {
          last[0] = post.get();
          return last[0] != PostResult.BACK_PRESSURED;
        },
        "the operation is accepted");
    if (last[0] == PostResult.CLOSED) {
      fail("the endpoint is closed");
    }
  }

  int poll() {
    int work = 0;
    for (Node node : nodes) {
      work += node.poll();
    }
    return work;
  }

  @Override
  public void close() {
    nodes.reversed().forEach(Node::close);
  }
}
