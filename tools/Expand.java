// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Expands templates to Java sources: classes that differ only in types, names and operations.
///
///     java tools/Expand.java TEMPLATES OUTPUT
///
/// Each `*.java.template` in TEMPLATES begins with lines that name its classes, and goes on with
/// one text for all of them. A line that begins with `#` is a directive:
///
/// - `#default KEY=VALUE` sets a value, the rest of the line, of all classes named below it.
/// - `#class NAME; KEY=VALUE; FLAG` names a class. `${class}` is its name, and a flag is a key whose
///   value is empty. `#with KEY=VALUE; FLAG` gives it more values.
/// - `#if KEY`, `#else`, `#end` keep lines for the classes that have, or do not have, a key.
/// - `#each KEY=VALUE; KEY=VALUE | KEY=VALUE; KEY=VALUE`, `#end` repeat lines with these values.
///
/// `${KEY}` in another line, or behind `#default` or `#each`, is replaced by the value. Classes go to OUTPUT, into
/// the directory of their package. A source that is already there and equal is not touched, and one
/// that no template names is deleted.
final class Expand {

  private static final String ENDING = ".java.template";
  private static final Pattern KEY = Pattern.compile("\\$\\{(\\w*)}");
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);$");

  private final String template;
  private final List<String> lines;

  private Expand(Path template) throws IOException {
    this.template = template.getFileName().toString();
    lines = Files.readAllLines(template);
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 2) {
      throw new IllegalArgumentException("usage: java tools/Expand.java TEMPLATES OUTPUT");
    }
    Path output = Path.of(arguments[1]);
    Map<Path, String> sources = new LinkedHashMap<>();
    for (Path template : filesThatEnd(Path.of(arguments[0]), ENDING)) {
      new Expand(template).expand(output, sources);
    }
    for (Path old : filesThatEnd(output, ".java")) {
      if (!sources.containsKey(old)) {
        Files.delete(old);
      }
    }
    for (Map.Entry<Path, String> source : sources.entrySet()) {
      Path file = source.getKey();
      Files.createDirectories(file.getParent());
      if (!Files.exists(file) || !Files.readString(file).equals(source.getValue())) {
        Files.writeString(file, source.getValue());
      }
    }
  }

  private static List<Path> filesThatEnd(Path directory, String ending) throws IOException {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  private void expand(Path output, Map<Path, String> into) {
    List<Map<String, String>> classes = new ArrayList<>();
    int text = head(classes);
    for (Map<String, String> values : classes) {
      StringBuilder source = new StringBuilder();
      int end = block(text, values, source);
      if (end < lines.size()) {
        throw broken(end, "no #if or #each is open");
      }
      Matcher name = PACKAGE.matcher(source);
      if (!name.find()) {
        throw broken(text, "the text has no line 'package …;'");
      }
      Path directory = output.resolve(name.group(1).replace('.', '/'));
      into.put(directory.resolve(values.get("class") + ".java"), source.toString());
    }
  }

  /// Reads the classes and their values. Returns the number of the first line of the text.
  private int head(List<Map<String, String>> classes) {
    Map<String, String> defaults = new HashMap<>();
    int at = 0;
    for (; at < lines.size(); at++) {
      if (isAt(at, "#default")) {
        String[] pair = replaced(at, argument(at), defaults).split("=", 2);
        defaults.put(pair[0], pair.length == 1 ? "" : pair[1]);
      } else if (isAt(at, "#class")) {
        classes.add(new HashMap<>(defaults));
        classes.getLast().putAll(values(at, "class=" + argument(at)));
      } else if (isAt(at, "#with") && !classes.isEmpty()) {
        classes.getLast().putAll(values(at, argument(at)));
      } else {
        break;
      }
    }
    if (classes.isEmpty()) {
      throw broken(at, "no #class above it");
    }
    return at;
  }

  /// Appends the lines from `first` to the directive that ends them, and returns its number. Skips
  /// them if `out` is null.
  private int block(int first, Map<String, String> values, StringBuilder out) {
    int at = first;
    while (at < lines.size() && !isAt(at, "#else") && !isAt(at, "#end")) {
      if (isAt(at, "#if")) {
        at = condition(at, values, out);
      } else if (isAt(at, "#each")) {
        at = repetition(at, values, out);
      } else if (lines.get(at).startsWith("#")) {
        throw broken(at, "unknown directive");
      } else {
        if (out != null) {
          out.append(replaced(at, lines.get(at), values)).append('\n');
        }
        at++;
      }
    }
    return at;
  }

  private int condition(int at, Map<String, String> values, StringBuilder out) {
    boolean holds = values.containsKey(argument(at));
    int end = block(at + 1, values, holds ? out : null);
    if (end < lines.size() && isAt(end, "#else")) {
      end = block(end + 1, values, holds ? null : out);
    }
    return after(at, end);
  }

  private int repetition(int at, Map<String, String> values, StringBuilder out) {
    if (out == null) {
      return after(at, block(at + 1, values, null));
    }
    int end = at;
    for (String each : replaced(at, argument(at), values).split("\\|")) {
      Map<String, String> own = new HashMap<>(values);
      own.putAll(values(at, each));
      end = block(at + 1, own, out);
    }
    return after(at, end);
  }

  /// Returns the number of the line behind the `#end` at `end`, of the block that `start` opens.
  private int after(int start, int end) {
    if (end >= lines.size() || !isAt(end, "#end")) {
      throw broken(start, "no #end for it");
    }
    return end + 1;
  }

  private boolean isAt(int line, String directive) {
    String text = lines.get(line);
    return text.equals(directive) || text.startsWith(directive + " ");
  }

  private String argument(int line) {
    String text = lines.get(line);
    int space = text.indexOf(' ');
    if (space < 0) {
      throw broken(line, "nothing follows the directive");
    }
    return text.substring(space).strip();
  }

  private Map<String, String> values(int line, String text) {
    Map<String, String> values = new HashMap<>();
    for (String part : text.split(";")) {
      String[] pair = part.strip().split("=", 2);
      if (!pair[0].matches("\\w+")) {
        throw broken(line, "not a key: '" + pair[0] + "'");
      }
      values.put(pair[0], pair.length == 1 ? "" : pair[1]);
    }
    return values;
  }

  private String replaced(int line, String text, Map<String, String> values) {
    return KEY.matcher(text)
        .replaceAll(
            key -> {
              String value = values.get(key.group(1));
              if (value == null) {
                throw broken(line, values.get("class") + " has no value of " + key.group());
              }
              return Matcher.quoteReplacement(value);
            });
  }

  private IllegalArgumentException broken(int line, String why) {
    String text = line < lines.size() ? lines.get(line) : "the end";
    return new IllegalArgumentException(
        "%s, line %d: %s: %s".formatted(template, line + 1, why, text));
  }
}
