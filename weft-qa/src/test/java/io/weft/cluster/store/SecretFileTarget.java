// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.comm.CommException;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/// A file in the place of the job's secret file.
public final class SecretFileTarget implements FuzzTarget {

  private final ScratchFile file = new ScratchFile();

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public SecretFileTarget() {}

  @Override
  public String name() {
    return "secret-file";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts("0123456789abcdef\n", "  short \r\n");
  }

  @Override
  public void decode(byte[] input) throws IOException {
    try {
      if (SecretFile.read(file.with(input)).bytes().length < 16) {
        throw new AssertionError("a secret of less than 16 bytes was accepted");
      }
    } catch (CommException.Setup refused) {
      String message = String.valueOf(refused.getMessage());
      String secret = new String(input, StandardCharsets.ISO_8859_1).strip();
      if (secret.length() >= 8 && message.contains(secret)
          || message.contains(HexFormat.of().formatHex(input)) && input.length > 4) {
        throw new AssertionError("the message tells the secret", refused);
      }
    }
  }
}
