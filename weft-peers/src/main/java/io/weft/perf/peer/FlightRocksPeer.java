// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import io.weft.perf.kv.KvPlan;
import io.weft.perf.process.ServerProcess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightClient.ExchangeReaderWriter;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.Location;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/// RocksDB behind Arrow Flight. Keys and rows travel as columns over one exchange for pushes and
/// one for pulls.
public final class FlightRocksPeer implements KvClient {

  private static final float[] NOTHING = {};

  private final BufferAllocator allocator = new RootAllocator();
  private final FlightClient client;
  private final Exchange pushes;
  private final Exchange pulls;
  private final ArrayDeque<Exchange> open = new ArrayDeque<>();

  /// A stream of requests of one kind and their replies.
  private record Exchange(ExchangeReaderWriter stream, VectorSchemaRoot columns, boolean hasRows) {

    static Exchange of(FlightClient client, String kind, VectorSchemaRoot columns) {
      byte[] command = kind.getBytes(StandardCharsets.UTF_8);
      ExchangeReaderWriter stream = client.doExchange(FlightDescriptor.command(command));
      stream.getWriter().start(columns);
      return new Exchange(stream, columns, kind.equals(FlightSchema.PULL));
    }

    void keys(long[] keys) {
      BigIntVector column = (BigIntVector) columns.getVector(FlightSchema.KEY);
      column.allocateNew(keys.length);
      for (int i = 0; i < keys.length; i++) {
        column.set(i, keys[i]);
      }
    }

    void send(int count) {
      columns.setRowCount(count);
      stream.getWriter().putNext();
    }

    void end() throws Exception {
      stream.getWriter().completed();
      boolean more = stream.getReader().next();
      while (more) {
        more = stream.getReader().next();
      }
      stream.close();
      columns.close();
    }
  }

  private FlightRocksPeer(int port, int width) {
    this.client =
        FlightClient.builder(allocator, Location.forGrpcInsecure("127.0.0.1", port)).build();
    this.pushes =
        Exchange.of(
            client,
            FlightSchema.PUSH,
            VectorSchemaRoot.create(FlightSchema.both(width), allocator));
    this.pulls =
        Exchange.of(
            client, FlightSchema.PULL, VectorSchemaRoot.create(FlightSchema.keys(), allocator));
  }

  /// Takes a plan's arguments and prints the report.
  public static void main(String[] words) throws Exception {
    KvPlan plan = KvPlan.parse(List.of(words));
    int width = (int) plan.subject().floats();
    try (ServerProcess server = ServerProcess.start(FlightRocksServer.class, "" + width)) {
      PeerLoop.run("flight-rocksdb", plan, new FlightRocksPeer(server.port(), width));
    }
  }

  @Override
  public void push(long[] keys, float[] values) {
    pushes.keys(keys);
    FixedSizeBinaryVector rows =
        (FixedSizeBinaryVector) pushes.columns().getVector(FlightSchema.ROW);
    rows.allocateNew(keys.length);
    MemorySegment.copy(
        values, 0, bytes(rows, keys.length), ValueLayout.JAVA_FLOAT_UNALIGNED, 0, values.length);
    rows.setValueCount(keys.length);
    for (int i = 0; i < keys.length; i++) {
      rows.setIndexDefined(i);
    }
    pushes.send(keys.length);
    open.add(pushes);
  }

  @Override
  public void pull(long[] keys) {
    pulls.keys(keys);
    pulls.send(keys.length);
    open.add(pulls);
  }

  @Override
  public float[] await() {
    Exchange oldest = open.remove();
    if (!oldest.stream().getReader().next()) {
      throw new IllegalStateException("the server has ended the exchange");
    }
    if (!oldest.hasRows()) {
      return NOTHING;
    }
    VectorSchemaRoot answer = oldest.stream().getReader().getRoot();
    FixedSizeBinaryVector rows = (FixedSizeBinaryVector) answer.getVector(FlightSchema.ROW);
    return bytes(rows, answer.getRowCount()).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  private static MemorySegment bytes(FixedSizeBinaryVector rows, int count) {
    long length = (long) rows.getByteWidth() * count;
    return MemorySegment.ofBuffer(rows.getDataBuffer().nioBuffer(0, Math.toIntExact(length)));
  }

  @Override
  public void end() throws Exception {
    pushes.end();
    pulls.end();
    client.close();
    allocator.close();
  }
}
