// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import io.weft.Weft;
import io.weft.cluster.Member;
import io.weft.file.ForeignDirectory;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The results of former searches, one file for each kind of cluster and work. The kind is
/// determined by the layout of ranks over hosts, the hosts' processors, the transport and the
/// tensors. Files have the form of settings files. User threads.
public final class TuningStore {

  private static final Logger LOG = LoggerFactory.getLogger(TuningStore.class);
  private static final int MOST_BYTES = 1 << 16;

  private final Path directory;

  /// Creates a store in this directory, which is created by `keep`.
  public TuningStore(Path directory) {
    this.directory = directory;
  }

  /// Returns a fingerprint of the kind of cluster and work, of 16 hexadecimal digits.
  ///
  /// @param work the reduced tensors in the caller's words, equal in each run
  public static String fingerprint(Weft weft, String work) {
    String ranks =
        weft.topology().members().stream()
            .limit(weft.size())
            .map(TuningStore::place)
            .collect(Collectors.joining(";"));
    String all = weft.transport() + "|" + ranks + "|" + work;
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(all.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static String place(Member member) {
    return member.crossRank() + "." + member.localRank() + "x" + member.processors().count();
  }

  /// Returns the values of these parameters. Empty if values were not kept for all parameters, or
  /// if a parameter does not have the kept value.
  public Optional<List<Long>> find(String fingerprint, List<TunedParameter> parameters) {
    var kept = new Properties();
    Path file = file(fingerprint);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      kept.load(new StringReader(ForeignFile.named(file).text(MOST_BYTES)));
      List<Long> values =
          parameters.stream()
              .map(each -> Long.valueOf(kept.getProperty(each.name(), "").strip()))
              .toList();
      for (int p = 0; p < values.size(); p++) {
        if (!parameters.get(p).values().contains(values.get(p))) {
          return Optional.empty();
        }
      }
      return Optional.of(values);
    } catch (IOException | IllegalArgumentException unreadable) {
      LOG.warn(
          "{} cannot be used and will be overwritten: {}; expected lines such as {}=65536",
          file,
          unreadable.getMessage(),
          parameters.getFirst().name());
      return Optional.empty();
    }
  }

  /// Stores the values of these parameters. Throws `IOException` if the file cannot be written.
  public void keep(String fingerprint, List<TunedParameter> parameters, List<Long> values)
      throws IOException {
    StringBuilder text = new StringBuilder();
    for (int p = 0; p < values.size(); p++) {
      text.append(parameters.get(p).name()).append('=').append(values.get(p)).append('\n');
    }
    ForeignDirectory.make(directory);
    NewFile.write(file(fingerprint), text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private Path file(String fingerprint) {
    return directory.resolve(fingerprint + ".properties");
  }
}
