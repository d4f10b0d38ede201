// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/// A server of rows by key in RocksDB behind Arrow Flight. It has one exchange for each kind of
/// request, which stays open until the client ends. The program prints its port and ends when its
/// standard input is closed.
final class FlightRocksServer extends NoOpFlightProducer {

  private final BufferAllocator allocator;
  private final RocksDB rows;
  private final int width;

  private FlightRocksServer(BufferAllocator allocator, RocksDB rows, int width) {
    this.allocator = allocator;
    this.rows = rows;
    this.width = width;
  }

  /// Takes the number of floats of a row.
  public static void main(String[] words) throws Exception {
    RocksDB.loadLibrary();
    Path directory = Files.createTempDirectory("weft-rocksdb-");
    try (BufferAllocator allocator = new RootAllocator();
        LRUCache cache = new LRUCache(512L << 20);
        Options options =
            new Options()
                .setCreateIfMissing(true)
                .setWriteBufferSize(256L << 20)
                .setTableFormatConfig(
                    new BlockBasedTableConfig()
                        .setBlockCache(cache)
                        .setFilterPolicy(new BloomFilter(10)));
        RocksDB rows = RocksDB.open(options, directory.toString())) {
      serve(allocator, rows, Integer.parseInt(words[0]));
    } finally {
      delete(directory);
    }
  }

  private static void serve(BufferAllocator allocator, RocksDB rows, int width)
      throws IOException, InterruptedException {
    FlightServer server =
        FlightServer.builder(
                allocator,
                Location.forGrpcInsecure("127.0.0.1", 0),
                new FlightRocksServer(allocator, rows, width))
            .build()
            .start();
    System.out.println(server.getPort());
    System.out.flush();
    int read = System.in.read();
    while (read >= 0) {
      read = System.in.read();
    }
    server.close();
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  @Override
  public void doExchange(CallContext context, FlightStream reader, ServerStreamListener writer) {
    String kind = new String(reader.getDescriptor().getCommand(), StandardCharsets.UTF_8);
    try (VectorSchemaRoot answers = VectorSchemaRoot.create(FlightSchema.rows(width), allocator)) {
      writer.start(answers);
      while (reader.next()) {
        BigIntVector keys = (BigIntVector) reader.getRoot().getVector(FlightSchema.KEY);
        if (kind.equals(FlightSchema.PUSH)) {
          add(keys, (FixedSizeBinaryVector) reader.getRoot().getVector(FlightSchema.ROW));
          answers.setRowCount(0);
        } else {
          read(keys, answers);
        }
        writer.putNext();
      }
      writer.completed();
    } catch (RocksDBException e) {
      writer.error(e);
    }
  }

  private List<byte[]> bytes(BigIntVector keys) {
    List<byte[]> list = new ArrayList<>(keys.getValueCount());
    for (int i = 0; i < keys.getValueCount(); i++) {
      list.add(ByteBuffer.allocate(8).putLong(keys.get(i)).array());
    }
    return list;
  }

  private void add(BigIntVector keys, FixedSizeBinaryVector more) throws RocksDBException {
    List<byte[]> names = bytes(keys);
    List<byte @Nullable []> there = rows.multiGetAsList(names);
    MemorySegment added =
        MemorySegment.ofBuffer(more.getDataBuffer().nioBuffer(0, 4 * width * keys.getValueCount()));
    try (WriteBatch batch = new WriteBatch();
        WriteOptions options = new WriteOptions().setDisableWAL(true)) {
      for (int i = 0; i < names.size(); i++) {
        byte[] row = there.get(i);
        MemorySegment mine = added.asSlice(4L * width * i, 4L * width);
        if (row == null) {
          row = mine.toArray(ValueLayout.JAVA_BYTE);
        } else {
          MemorySegment sum = MemorySegment.ofArray(row);
          for (long at = 0; at < sum.byteSize(); at += 4) {
            sum.set(
                ValueLayout.JAVA_FLOAT_UNALIGNED,
                at,
                sum.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at)
                    + mine.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at));
          }
        }
        batch.put(names.get(i), row);
      }
      rows.write(options, batch);
    }
  }

  private void read(BigIntVector keys, VectorSchemaRoot answers) throws RocksDBException {
    List<byte @Nullable []> found = rows.multiGetAsList(bytes(keys));
    FixedSizeBinaryVector rowsOut = (FixedSizeBinaryVector) answers.getVector(FlightSchema.ROW);
    rowsOut.allocateNew(found.size());
    byte[] none = new byte[4 * width];
    for (int i = 0; i < found.size(); i++) {
      byte[] row = found.get(i);
      rowsOut.set(i, row == null ? none : row);
    }
    answers.setRowCount(found.size());
  }
}
