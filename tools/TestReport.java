// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/// Prints the slowest tests of a build and, with `--totals`, all that failed and how many ran, out
/// of the reports that Surefire and the console of JUnit leave in `*/target/*-reports`.
///
///     java tools/TestReport.java [--totals FILE] DIRECTORY
///
/// With `--totals` it counts the reports that are newer than FILE, and ends with exit code 1 where
/// a test failed, or none ran.
final class TestReport {

  private static final int SLOWEST = 50;

  /// A test of the default tier takes less.
  private static final double MOST_SECONDS = 15;

  private static final int LINES_OF_A_FAILURE = 12;
  private static final int WIDTH = 600;
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private TestReport() {}

  /// One test. `failure` is empty where it did not fail.
  private record Case(String name, double seconds, boolean skipped, List<String> failure) {}

  public static void main(String[] arguments) throws IOException {
    boolean totals = arguments.length == 3 && arguments[0].equals("--totals");
    if (!totals && arguments.length != 1) {
      System.err.println("usage: java tools/TestReport.java [--totals FILE] DIRECTORY");
      System.exit(2);
    }
    FileTime since =
        totals ? Files.getLastModifiedTime(Path.of(arguments[1])) : FileTime.fromMillis(0);
    List<Case> cases = new ArrayList<>();
    for (Path report : reports(Path.of(arguments[arguments.length - 1]))) {
      if (Files.getLastModifiedTime(report).compareTo(since) >= 0) {
        read(report, cases);
      }
    }
    printSlowest(cases);
    if (totals && !printTotals(cases, since)) {
      System.exit(1);
    }
  }

  private static List<Path> reports(Path root) throws IOException {
    List<Path> found = new ArrayList<>();
    try (var modules = Files.newDirectoryStream(root, Files::isDirectory)) {
      for (Path module : modules) {
        for (String directory : List.of("surefire-reports", "without-reports")) {
          Path reports = module.resolve("target").resolve(directory);
          if (Files.isDirectory(reports)) {
            try (Stream<Path> files = Files.list(reports)) {
              files
                  .filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                  .sorted()
                  .forEach(found::add);
            }
          }
        }
      }
    }
    return found;
  }

  private static void read(Path report, List<Case> into) throws IOException {
    NodeList cases;
    try {
      DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
      cases = builder.parse(report.toFile()).getElementsByTagName("testcase");
    } catch (SAXException | ParserConfigurationException broken) {
      String why = "this report cannot be read: " + broken.getMessage();
      into.add(new Case(report.toString(), 0, false, List.of(why)));
      return;
    }
    for (int i = 0; i < cases.getLength(); i++) {
      Element one = (Element) cases.item(i);
      String type = one.getAttribute("classname").replaceFirst("^io\\.weft\\.", "");
      String seconds = one.getAttribute("time").replace(",", "");
      into.add(
          new Case(
              type + "." + one.getAttribute("name").lines().findFirst().orElse(""),
              seconds.isEmpty() ? 0 : Double.parseDouble(seconds),
              one.getElementsByTagName("skipped").getLength() > 0,
              failure(one)));
    }
  }

  private static List<String> failure(Element one) {
    for (String kind : List.of("failure", "error")) {
      NodeList found = one.getElementsByTagName(kind);
      if (found.getLength() > 0) {
        String text = found.item(0).getTextContent().strip();
        return text.isEmpty() ? List.of(kind + " without a word") : text.lines().toList();
      }
    }
    return List.of();
  }

  private static void printSlowest(List<Case> cases) {
    List<Case> slowest =
        cases.stream()
            .sorted(Comparator.comparingDouble(Case::seconds).reversed())
            .limit(SLOWEST)
            .toList();
    double all = cases.stream().mapToDouble(Case::seconds).sum();
    double most = slowest.stream().mapToDouble(Case::seconds).sum();
    OUT.printf(
        "The %d slowest of %d tests take %.0f of %.0f s; '!' marks more than %.0f s:%n",
        slowest.size(), cases.size(), most, all, MOST_SECONDS);
    for (Case one : slowest) {
      String mark = one.seconds() > MOST_SECONDS ? "!" : " ";
      OUT.printf("%s %7.1f s  %s%n", mark, one.seconds(), one.name());
    }
  }

  /// Prints what failed, then the totals, last, so that a log that is cut at its front still has
  /// both. Returns whether tests ran and none failed.
  private static boolean printTotals(List<Case> cases, FileTime since) {
    int failed = 0;
    int skipped = 0;
    for (Case one : cases) {
      if (!one.failure().isEmpty()) {
        failed++;
        OUT.println("FAILED " + one.name());
        for (String line : one.failure().stream().limit(LINES_OF_A_FAILURE).toList()) {
          OUT.println("  " + line.substring(0, Math.min(WIDTH, line.length())));
        }
      } else if (one.skipped()) {
        skipped++;
      }
    }
    long seconds = Duration.ofMillis(System.currentTimeMillis() - since.toMillis()).toSeconds();
    OUT.printf(
        "%d passed, %d failed, %d skipped in %d s%n",
        cases.size() - failed - skipped, failed, skipped, seconds);
    return failed == 0 && !cases.isEmpty();
  }
}
