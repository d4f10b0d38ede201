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

/// What searches have found before, one file for each kind of cluster and work: as many ranks laid
/// out in the same way over hosts with as many processors, over the same transport, with the same
/// tensors. Files are of the form that settings files have. User threads.
public final class TuningStore {

  private static final Logger LOG = LoggerFactory.getLogger(TuningStore.class);
  private static final int MOST_BYTES = 1 << 16;

  private final Path directory;

  /// In this directory, which is made when something is kept.
  public TuningStore(Path directory) {
    this.directory = directory;
  }

  /// What tells one kind of cluster and work from others, in 16 hexadecimal digits.
  ///
  /// @param work what is reduced, in words of the caller's, the same in each run
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

  /// The values of these parameters; empty where nothing was kept, or not for all of them, or what
  /// was kept is not among what they may be.
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
          "{} cannot be used and is written anew: {}; expected are lines such as {}=65536",
          file,
          unreadable.getMessage(),
          parameters.getFirst().name());
      return Optional.empty();
    }
  }

  /// Keeps the values of these parameters. Throws `IOException` where the file cannot be written.
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
