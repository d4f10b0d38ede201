// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.collective;

import io.weft.file.ScratchDirectory;
import io.weft.perf.rank.Tiles;
import io.weft.perf.rank.TimedCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.Buffer;
import java.nio.file.Path;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.AllreduceOptions;
import org.bytedeco.pytorch.FileStore;
import org.bytedeco.pytorch.GlooDeviceVector;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.ReduceOp;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch_gloo;

/// PyTorch's process group over Gloo, through JavaCPP: sums in place in tensors of PyTorch.
public final class GlooRank implements CollectiveLibrary {

  private GlooRank() {}

  /// Runs one rank.
  public static void main(String[] words) {
    CollectiveProgram.exit(words, GlooRank.class, new GlooRank());
  }

  @Override
  public String load() {
    String loaded = Loader.load(torch_gloo.class);
    String version = ProcessGroupGloo.class.getPackage().getImplementationVersion();
    return loaded == null ? "javacpp-gloo" : "javacpp-gloo " + version;
  }

  @Override
  public MeetingPlace open(int ranks) {
    try {
      Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
      return new StoreFile(ScratchDirectory.create(temporary, "weft-gloo"));
    } catch (IOException e) {
      throw new IllegalStateException("cannot create a directory for the ranks to meet", e);
    }
  }

  @Override
  public CollectiveRank join(int rank, int ranks, String place) {
    return new Rank(rank, ranks, new FileStore(place, ranks));
  }

  /// The file that the ranks read and write when they join.
  private record StoreFile(ScratchDirectory directory) implements MeetingPlace {

    @Override
    public String words() {
      return directory.path().resolve("ranks").toString();
    }

    @Override
    public void close() {
      try {
        directory.close();
      } catch (IOException e) {
        throw new IllegalStateException("cannot delete " + directory.path(), e);
      }
    }
  }

  private static final class Rank implements CollectiveRank {

    private final int rank;
    private final int size;

    /// The process group reads it for as long as it exists.
    private final FileStore store;

    private final ProcessGroupGloo group;
    private final AllreduceOptions maximum = new AllreduceOptions();

    private Rank(int rank, int size, FileStore store) {
      this.rank = rank;
      this.size = size;
      this.store = store;
      ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create();
      options.devices(new GlooDeviceVector(ProcessGroupGloo.createDeviceForHostname("127.0.0.1")));
      this.group = new ProcessGroupGloo(store, rank, size, options);
      maximum.reduceOp(new ReduceOp(ReduceOp.RedOpType.MAX));
    }

    @Override
    public int rank() {
      return rank;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public void barrier() {
      await(group.barrier());
    }

    @Override
    public void largest(long[] counts) {
      try (TensorOptions int64 = new TensorOptions(torch.ScalarType.Long);
          Tensor tensor = torch.zeros(new long[] {counts.length}, int64);
          TensorVector tensors = new TensorVector(tensor)) {
        MemorySegment data = data(tensor);
        MemorySegment.copy(counts, 0, data, ValueLayout.JAVA_LONG, 0, counts.length);
        await(group.allreduce(tensors, maximum));
        MemorySegment.copy(data, ValueLayout.JAVA_LONG, 0, counts, 0, counts.length);
      }
    }

    @Override
    public TimedCall allreduce(int elements) {
      return new Sum(this, torch.zeros(elements));
    }

    @Override
    public void close() {
      group.close();
      store.close();
    }

    private static void await(Work work) {
      try (work) {
        if (!work._wait()) {
          throw new IllegalStateException("Gloo: the operation failed");
        }
      }
    }
  }

  private static MemorySegment data(Tensor tensor) {
    Buffer buffer = tensor.createBuffer();
    return MemorySegment.ofBuffer(buffer);
  }

  /// The sum of one tensor per rank.
  private static final class Sum implements TimedCall {

    private final Arena arena = Arena.ofConfined();
    private final Rank group;
    private final Tensor tensor;
    private final TensorVector tensors;
    private final MemorySegment data;
    private final int sumOfScales;
    private final Tiles tiles;

    private Sum(Rank group, Tensor tensor) {
      this.group = group;
      this.tensor = tensor;
      this.tensors = new TensorVector(tensor);
      this.data = data(tensor);
      this.sumOfScales = group.size * (group.size + 1) / 2;
      this.tiles = new Tiles(arena, sumOfScales);
    }

    @Override
    public void fill(long t) {
      tiles.fill(data, group.rank + 1, t);
    }

    @Override
    public void call() {
      Rank.await(group.group.allreduce(tensors));
    }

    @Override
    public boolean right(long t) {
      return tiles.same(data, 0, data.byteSize(), sumOfScales, t);
    }

    @Override
    public void close() {
      tensors.close();
      tensor.close();
      arena.close();
    }
  }
}
