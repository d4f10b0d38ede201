// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.comm.CommException;
import io.weft.config.OptionProvider;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/// A settings file that `WEFT_CONFIG_FILE` names.
public final class SettingsFileTarget implements FuzzTarget {

  private final ScratchFile file = new ScratchFile();

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public SettingsFileTarget() {}

  @Override
  public String name() {
    return "settings-file";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        bytes("# all of them\nweft.transport = tcp\nweft.deadline: 500ms\nweft.bind=127.0.0.1\n"),
        bytes("weft.spin=auto\nweft.pool.bytes=256M\nweft.eager.bytes=8K\nweft.job=\\u0041b\\\n c"),
        bytes("weft.store=[::1]:29400\nweft.secret.file=/tmp/x\nweft.start.deadline=1.5m\n"));
  }

  @Override
  public List<byte[]> dictionary() {
    var words = new ArrayList<byte[]>();
    OptionProvider.all().forEach(option -> words.add(bytes(option.property() + "=")));
    for (String word : List.of("\\u", "\\\n", "1e9", "9".repeat(60), "ms", "GiB", "\0", "=")) {
      words.add(bytes(word));
    }
    return words;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void decode(byte[] input) throws IOException {
    var system = new Properties();
    system.setProperty("weft.config.file", file.with(input).toString());
    try {
      WeftConfig config = WeftConfig.load(Map.of(), system);
      if (config.deadline().isNegative() || config.segmentBytes().orElse(1) < 1) {
        throw new AssertionError("accepted " + config);
      }
    } catch (CommException.Setup refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }
}
