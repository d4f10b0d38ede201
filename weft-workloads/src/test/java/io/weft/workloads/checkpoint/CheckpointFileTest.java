// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointFileTest {

  private static final History HISTORY =
      new History(List.of(2.5, 1.5, 1.25, 0.5), List.of(0.5, 1.));

  @TempDir private Path directory;
  private Path file;
  private byte[] whole;

  private static List<SavedTensor> tensors(int elements) {
    MemorySegment memory = Arena.ofAuto().allocate(4L * elements, 64);
    for (int i = 0; i < elements; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, i / 8f);
    }
    return List.of(
        new SavedTensor("kernel", new TensorView(DType.FLOAT32, Shape.of(elements), memory)));
  }

  @BeforeEach
  void write() throws IOException {
    var facts = new LinkedHashMap<String, String>();
    facts.put("workload", "mnist-dnn");
    facts.put("seed", "7");
    facts.put("data", "synthetic digits, 1000 examples");
    file = CheckpointFile.of(directory, 2);
    CheckpointFile.write(file, new Manifest(2, facts), HISTORY, tensors(30));
    whole = Files.readAllBytes(file);
  }

  @Test
  void aWholeFileIsReadAsItWasWritten() throws IOException {
    Manifest manifest = CheckpointFile.verified(file);
    assertThat(manifest.epochs()).isEqualTo(2);
    assertThat(manifest.facts()).containsAllEntriesOf(Map.of("workload", "mnist-dnn", "seed", "7"));
    List<SavedTensor> read = tensors(30);
    read.getFirst().copy().data().fill((byte) 0);
    assertThat(CheckpointFile.read(file, read)).isEqualTo(HISTORY);
    assertThat(read.getFirst().copy().data().mismatch(tensors(30).getFirst().copy().data()))
        .isEqualTo(-1);
  }

  @Test
  void everyFlippedBitIsDamage() throws IOException {
    for (int at = 0; at < whole.length; at++) {
      byte[] flipped = whole.clone();
      flipped[at] ^= (byte) (1 << at % 8);
      Files.write(file, flipped);
      assertThatThrownBy(() -> CheckpointFile.verified(file))
          .as("byte %d of %d", at, whole.length)
          .isInstanceOf(IOException.class)
          .hasMessage("its checksum does not match its bytes");
    }
  }

  @Test
  void everyOtherLengthIsDamage() throws IOException {
    for (int length = 0; length < whole.length + 9; length++) {
      if (length != whole.length) {
        Files.write(file, Arrays.copyOf(whole, length));
        assertThatThrownBy(() -> CheckpointFile.verified(file))
            .as("%d of %d bytes", length, whole.length)
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void aFileIsNotReadIntoOtherTensors() {
    assertThatThrownBy(() -> CheckpointFile.read(file, tensors(29)))
        .isInstanceOf(CheckpointFile.Misfit.class)
        .hasMessageContaining("type of kernel");
  }
}
