// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.JobConfig;
import io.weft.comm.CommException;
import io.weft.config.Settings;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The sources of the job's secret: a file or the environment, but never the command line. The
/// secret consists of the bytes of the text, in any encoding, without the surrounding white space.
/// Any text of at least 16 bytes is valid; base64 of random bytes is best. Any thread.
public final class SecretFile {

  /// The variable that contains the secret itself.
  public static final String VARIABLE = "WEFT_SECRET";

  /// The variable that contains the secret as hexadecimal digits, two per byte. It is for secrets
  /// that are not ASCII, which processes in different languages could decode differently.
  public static final String HEX_VARIABLE = "WEFT_SECRET_HEX";

  private static final int RANDOM_BYTES = 32;
  private static final int MAX_BYTES = 4096;
  private static final Set<PosixFilePermission> REFUSED =
      Set.of(
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE,
          PosixFilePermission.GROUP_WRITE);

  private SecretFile() {}

  /// Finds the secret in the settings' file, then in `WEFT_SECRET_HEX`, then in `WEFT_SECRET`.
  /// Empty if none is set. Throws `CommException.Setup` naming the source if it is unreadable, too
  /// short or accessible to others, or if `WEFT_SECRET` is not ASCII.
  public static Optional<Secret> find(Settings settings, Map<String, String> environment) {
    if (settings.value(JobConfig.SECRET_FILE).isPresent()) {
      return Optional.of(read(settings.value(JobConfig.SECRET_FILE).get()));
    }
    if (environment.containsKey(HEX_VARIABLE)) {
      return Optional.of(ofHex(environment.get(HEX_VARIABLE)));
    }
    return Optional.ofNullable(environment.get(VARIABLE)).map(SecretFile::ofText);
  }

  /// Returns the variables that pass exactly this secret to a process in any language.
  public static Map<String, String> variables(Secret secret) {
    byte[] bytes = secret.bytes();
    for (byte one : bytes) {
      if (one < ' ' || one > '~') {
        return Map.of(HEX_VARIABLE, HexFormat.of().formatHex(bytes));
      }
    }
    return Map.of(VARIABLE, new String(bytes, StandardCharsets.US_ASCII));
  }

  private static Secret ofText(String text) {
    if (!text.chars().allMatch(character -> character < 128)) {
      throw new CommException.Setup(
          "variable "
              + VARIABLE
              + " has other characters than ASCII's, which ranks may take for different bytes; put"
              + " the secret into a file (WEFT_SECRET_FILE), or take one made by 'head -c 32"
              + " /dev/urandom | base64'",
          null);
    }
    return secret(text.getBytes(StandardCharsets.US_ASCII), "variable " + VARIABLE);
  }

  private static Secret ofHex(String digits) {
    try {
      return Secret.of(HexFormat.of().parseHex(digits.strip()));
    } catch (IllegalArgumentException wrong) {
      throw new CommException.Setup(
          "variable "
              + HEX_VARIABLE
              + " must have two hexadecimal digits for each of 16 bytes or"
              + " more, "
              + digits.length()
              + " characters are there",
          null);
    }
  }

  /// Reads a secret. Throws `CommException.Setup` naming the file if it is unreadable, too short or
  /// too long, or if users outside its group can read it, or users other than its owner can replace
  /// it.
  public static Secret read(Path file) {
    try {
      requirePrivate(file);
      return secret(ForeignFile.named(file).bytes(MAX_BYTES), "file " + file);
    } catch (IOException unreadable) {
      throw new CommException.Setup(
          "the secret file "
              + file
              + " cannot be read: "
              + IoErrors.reason(unreadable)
              + "; make one with 'umask 077; head -c 32 /dev/urandom | base64 > "
              + file
              + "'",
          unreadable);
    }
  }

  /// Throws `CommException.Setup` naming the file if users outside its group can read it, or if
  /// users other than its owner can replace it.
  static void requirePrivate(Path file) throws IOException {
    var view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (view == null) {
      return;
    }
    Set<PosixFilePermission> permissions = view.readAttributes().permissions();
    if (permissions.stream().anyMatch(REFUSED::contains)) {
      throw new CommException.Setup(
          "the secret file "
              + file
              + " has mode "
              + PosixFilePermissions.toString(permissions)
              + ", so others can read or replace it; run 'chmod 600 "
              + file
              + "'",
          null);
    }
  }

  /// Generates a secret.
  public static Secret random() {
    return Secret.of(randomText().getBytes(StandardCharsets.US_ASCII));
  }

  /// Generates a secret and writes it as `write` does.
  public static Secret create(Path file) {
    Secret secret = random();
    write(file, secret);
    return secret;
  }

  /// Writes a secret to a new file that only its owner can read. Throws `CommException.Setup` if
  /// the file exists or cannot be written.
  public static void write(Path file, Secret secret) {
    try {
      NewFile.createPrivate(file, secret.bytes());
    } catch (IOException unwritable) {
      throw new CommException.Setup(
          "the secret file " + file + " cannot be written: " + IoErrors.reason(unwritable),
          unwritable);
    }
  }

  private static String randomText() {
    byte[] bytes = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static Secret secret(byte[] content, String source) {
    int start = 0;
    int end = content.length;
    while (start < end && isBlank(content[start])) {
      start++;
    }
    while (end > start && isBlank(content[end - 1])) {
      end--;
    }
    try {
      return Secret.of(Arrays.copyOfRange(content, start, end));
    } catch (IllegalArgumentException tooShort) {
      throw new CommException.Setup(source + ": " + tooShort.getMessage(), tooShort);
    }
  }

  private static boolean isBlank(byte character) {
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
  }
}
