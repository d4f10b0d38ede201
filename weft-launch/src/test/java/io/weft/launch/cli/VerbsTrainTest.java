// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/// `weft train` with TensorFlow on an RDMA device, by processes as users start them.
@Tag("rdma")
@Timeout(900)
class VerbsTrainTest {

  private static final long LIMIT_SECONDS = 420;
  private static final int EXAMPLES = 256;
  private static final int PIXELS = 28 * 28;

  @TempDir private Path directory;

  @Test
  void overVerbsTwoRanksLearnTheWeightsThatTheyLearnOverTcp() throws Exception {
    for (String part : List.of("train", "t10k")) {
      write(part + "-images-idx3-ubyte", 256, PIXELS, EXAMPLES, 28, 28);
      write(part + "-labels-idx1-ubyte", 10, 1, EXAMPLES);
    }
    JsonNode verbs = train("verbs");
    JsonNode tcp = train("tcp");
    assertThat(verbs.get("transport").asString()).isEqualTo("verbs");
    assertThat(verbs.get("weightsDigest")).hasSize(2).isEqualTo(tcp.get("weightsDigest"));
  }

  private JsonNode train(String transport) throws Exception {
    Path report = directory.resolve(transport + ".json");
    ProcessBuilder builder =
        CommandProcess.of(
            "train",
            "mnist-dnn",
            "-np",
            "2",
            "--epochs",
            "1",
            "--data",
            directory.toString(),
            "--transport",
            transport,
            "--json",
            report.toString());
    List<String> command = builder.command();
    command.set(command.indexOf("-cp") + 1, withoutTests());
    Path said = directory.resolve(transport + ".txt");
    Process process = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(ended && process.exitValue() == 0)
          .as("%s, ended %s: %s", transport, ended, Files.readString(said))
          .isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return new ObjectMapper().readTree(report.toFile());
  }

  /// Tests rehearse training; what users start does it.
  private static String withoutTests() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(path -> !path.endsWith("test-classes"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /// A file of the published form, with values below a bound that are the same each time.
  private void write(String name, int bound, int bytesEach, int... sizes) throws Exception {
    var bytes = new ByteArrayOutputStream();
    var out = new DataOutputStream(bytes);
    out.writeInt(0x800 | sizes.length);
    for (int size : sizes) {
      out.writeInt(size);
    }
    var random = new Random(name.length());
    for (int i = 0; i < EXAMPLES * bytesEach; i++) {
      out.writeByte(random.nextInt(bound));
    }
    Files.write(directory.resolve(name), bytes.toByteArray());
  }
}
