// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/// The reader of a checkpoint with one tensor.
public final class CheckpointTarget implements FuzzTarget {

  private final ScratchFile file = new ScratchFile();
  private final List<SavedTensor> tensors =
      List.of(
          new SavedTensor(
              "w", new TensorView(DType.FLOAT32, Shape.of(2, 3), Arena.ofAuto().allocate(24, 64))));

  /// For the fuzzer.
  public CheckpointTarget() {}

  @Override
  public String name() {
    return "checkpoint";
  }

  @Override
  public List<byte[]> seeds() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("workload", "mnist-dnn");
    facts.put("seed", "5");
    try {
      Path directory = Files.createTempDirectory("weft-fuzz-");
      Path written = directory.resolve("seed");
      CheckpointFile.write(
          written,
          new Manifest(2, facts),
          new History(List.of(0.5, 0.25), List.of(0.8, 0.9)),
          tensors);
      byte[] seed = Files.readAllBytes(written);
      Files.delete(written);
      Files.delete(directory);
      return List.of(seed);
    } catch (IOException unwritable) {
      throw new IllegalStateException(unwritable);
    }
  }

  /// Reads the input unchanged, and with a corrected checksum, which lets it reach the parser.
  @Override
  public void decode(byte[] input) throws IOException {
    read(input);
    if (input.length > Long.BYTES) {
      var crc = new CRC32C();
      crc.update(input, 0, input.length - Long.BYTES);
      byte[] mended = input.clone();
      ByteBuffer.wrap(mended).putLong(input.length - Long.BYTES, crc.getValue());
      read(mended);
    }
  }

  private void read(byte[] input) throws IOException {
    Path checkpoint = file.with(input);
    try {
      Manifest manifest = CheckpointFile.verified(checkpoint);
      if (manifest.epochs() < 1) {
        throw new AssertionError("accepted " + manifest);
      }
      History ignored = CheckpointFile.read(checkpoint, tensors);
    } catch (IOException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }
}
