// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.JobConfig;
import io.weft.comm.CommException;
import io.weft.config.Settings;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.transport.limit.Refusal;
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

/// Where the job's secret comes from: a file, or the environment; never the command line. The
/// secret is the text itself without the white space around it, byte by byte whatever its encoding,
/// so that any text of 16 bytes or more will do, and base64 of random bytes does best. Any thread.
public final class SecretFile {

  /// Variable that holds the secret itself.
  public static final String VARIABLE = "WEFT_SECRET";

  /// Variable that holds it as hexadecimal digits, two a byte: for secrets that are not ASCII,
  /// which processes of different languages would take for different ones.
  public static final String HEX_VARIABLE = "WEFT_SECRET_HEX";

  private static final int RANDOM_BYTES = 32;
  private static final int MAX_BYTES = 4096;
  private static final Set<PosixFilePermission> REFUSED =
      Set.of(
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE,
          PosixFilePermission.GROUP_WRITE);

  private SecretFile() {}

  /// The secret that the settings' file or else `WEFT_SECRET_HEX` or `WEFT_SECRET` holds; empty
  /// where none is set. Throws `CommException.Setup` naming the source where it is unreadable, too
  /// short, open to others, or other text than ASCII in the latter.
  public static Optional<Secret> find(Settings settings, Map<String, String> environment) {
    if (settings.value(JobConfig.SECRET_FILE).isPresent()) {
      return Optional.of(read(settings.value(JobConfig.SECRET_FILE).get()));
    }
    if (environment.containsKey(HEX_VARIABLE)) {
      return Optional.of(ofHex(environment.get(HEX_VARIABLE)));
    }
    return Optional.ofNullable(environment.get(VARIABLE)).map(SecretFile::ofText);
  }

  /// The variables that give exactly this secret to a process of any language.
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

  /// Reads a secret. Throws `CommException.Setup` naming the file where it is unreadable, too short
  /// or too long, or readable by users outside its group.
  public static Secret read(Path file) {
    try {
      requirePrivate(file);
      return secret(ForeignFile.named(file).bytes(MAX_BYTES), "file " + file);
    } catch (IOException unreadable) {
      throw new CommException.Setup(
          "the secret file "
              + file
              + " cannot be read: "
              + Refusal.reason(unreadable)
              + "; make one with 'umask 077; head -c 32 /dev/urandom | base64 > "
              + file
              + "'",
          unreadable);
    }
  }

  /// Throws `CommException.Setup` naming the file where users outside its group can read it, or
  /// others than its owner can replace it.
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

  /// Draws a secret.
  public static Secret random() {
    return Secret.of(randomText().getBytes(StandardCharsets.US_ASCII));
  }

  /// Draws a secret and writes it as `write` does.
  public static Secret create(Path file) {
    Secret secret = random();
    write(file, secret);
    return secret;
  }

  /// Writes a secret to a new file that only its owner can read. Throws `CommException.Setup` where
  /// the file is there already or cannot be written.
  public static void write(Path file, Secret secret) {
    try {
      NewFile.createPrivate(file, secret.bytes());
    } catch (IOException unwritable) {
      throw new CommException.Setup(
          "the secret file " + file + " cannot be written: " + Refusal.reason(unwritable),
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
