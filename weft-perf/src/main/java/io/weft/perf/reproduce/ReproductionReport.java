// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.report.Figure;
import io.weft.perf.report.Panel;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The report of a reproduction as one HTML page, which is also XML and loads nothing: pictures are
/// part of the page.
///
/// @param rows the rows in the order of the page
/// @param host words about this machine
/// @param mode the mode of the last reproduction
record ReproductionReport(List<Figure> rows, String host, ReproductionMode mode) {

  private static final Map<String, String> DOCUMENTS = new LinkedHashMap<>();

  static {
    DOCUMENTS.put("JIA17", "Improving the Performance of Distributed TensorFlow with RDMA");
    DOCUMENTS.put("PSLITE", "RDMA Optimization on ps-lite/MXNet");
    DOCUMENTS.put("VIS16", "Distributed TensorFlow with MPI");
    DOCUMENTS.put("SEASTAR", "Distributed optimization of large sparse models in TensorFlow");
    DOCUMENTS.put("HVD18", "Meet Horovod");
  }

  private static final String STYLE =
      """
      body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
      h2{margin-top:3rem;border-bottom:2px solid #ccc}
      table{border-collapse:collapse;width:100%;font-size:.88rem}
      th,td{border-bottom:1px solid #ddd;padding:.3rem .5rem;text-align:left;vertical-align:top}
      article{margin:2rem 0;padding:.2rem 1rem;border:1px solid #ddd;border-radius:6px}
      dt{font-weight:600;color:#555}dd{margin:0 0 .4rem 1rem}
      code{font-size:.85rem;overflow-wrap:anywhere}
      img{max-width:100%;height:auto}
      .agrees{color:#176117}.differs{color:#8a4b00}.cards,.other{color:#555}
      """;

  ReproductionReport {
    rows = List.copyOf(rows);
  }

  /// Returns the counts of verdicts in one line.
  String summary() {
    Map<String, Long> counts =
        rows.stream()
            .collect(
                Collectors.groupingBy(
                    each -> kind(each).label, LinkedHashMap::new, Collectors.counting()));
    long measured = rows.stream().filter(each -> !each.text("measured").isEmpty()).count();
    long simulated = rows.stream().filter(each -> !each.text("simulated").isEmpty()).count();
    return "%d figures: %s; %d measured here, %d simulated"
        .formatted(
            rows.size(),
            counts.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey())
                .collect(Collectors.joining(", ")),
            measured,
            simulated);
  }

  /// The kinds of verdicts.
  private enum Kind {
    AGREES("agrees", "agree with the document"),
    DIFFERS("differs", "differ and say why"),
    CARDS("cards", "need cards that are not here"),
    OTHER("other", "are not judged");

    private final String style;
    private final String label;

    Kind(String style, String label) {
      this.style = style;
      this.label = label;
    }
  }

  private static Kind kind(Figure row) {
    String verdict = row.text("verdict");
    if (verdict.startsWith(FigureRow.AGREES)) {
      return Kind.AGREES;
    }
    if (verdict.startsWith("differs")) {
      return Kind.DIFFERS;
    }
    return verdict.startsWith(FigureRow.NEEDS_CARDS) ? Kind.CARDS : Kind.OTHER;
  }

  /// Returns the page in UTF-8.
  ///
  /// @param problems receives the reason if the JDK cannot draw; the page then lacks its plots
  byte[] page(List<String> problems) {
    StringBuilder page = new StringBuilder();
    page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    page.append("<meta name=\"viewport\" content=\"width=device-width\"/>\n");
    page.append("<title>Weft: the figures of five documents</title>\n");
    page.append("<style>\n").append(STYLE).append("</style>\n</head>\n<body>\n");
    page.append("<h1>The figures of five documents, reproduced with Weft</h1>\n");
    page.append(
        """
        <p>%s. Mode: %s.</p>
        <p>This machine: %s. A row that was measured elsewhere names its machine.</p>
        <p>A result agrees if it deviates from the document's number by no more than the accepted
        part, which is 25 %% of most numbers and 10 %% of an efficiency. The ratio is Weft's result
        divided by the nearest number of the document. Simulated results come from the simulator of
        <code>weft plan</code> (docs/plan.md); the notes name their assumptions.</p>
        """
            .formatted(text(summary()), mode.word(), text(host)));
    overview(page);
    for (Map.Entry<String, String> document : DOCUMENTS.entrySet()) {
      List<Figure> own =
          rows.stream().filter(each -> each.text("document").equals(document.getKey())).toList();
      if (!own.isEmpty()) {
        page.append("<h2>%s: %s</h2>\n".formatted(document.getKey(), text(document.getValue())));
        own.forEach(row -> article(row, page, problems));
      }
    }
    return page.append("</body>\n</html>\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  private void overview(StringBuilder page) {
    page.append("<table>\n<thead><tr><th>figure</th><th>document</th><th>measured here</th>");
    page.append("<th>simulated</th><th>ratio</th><th>verdict</th></tr></thead>\n<tbody>\n");
    for (Figure row : rows) {
      page.append(
          "<tr><td><a href=\"#%s\">%s</a></td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td class=\"%s\">%s</td></tr>\n"
              .formatted(
                  id(row),
                  text(id(row)),
                  text(row.text("claim")),
                  text(row.text("measured")),
                  text(row.text("simulated")),
                  ratio(row),
                  kind(row).style,
                  text(row.text("verdict"))));
    }
    page.append("</tbody>\n</table>\n");
  }

  private static String id(Figure row) {
    return row.text("document") + "." + row.text("figure");
  }

  private static String ratio(Figure row) {
    return row.values().get("ratio") instanceof Number ratio
        ? Amount.number(ratio.doubleValue())
        : "";
  }

  private void article(Figure row, StringBuilder page, List<String> problems) {
    page.append("<article id=\"%s\">\n<h3>%s</h3>\n".formatted(id(row), text(id(row))));
    page.append("<p>").append(text(row.text("claim"))).append("</p>\n<dl>\n");
    entry(page, "measured here", row.text("measured"));
    entry(page, "simulated", row.text("simulated"));
    entry(page, "ratio to the document", ratio(row));
    page.append("<dt>verdict</dt><dd class=\"%s\">".formatted(kind(row).style));
    page.append(text(row.text("verdict"))).append("</dd>\n");
    entry(page, "note", row.text("note"));
    if (!row.text("host").equals(host)) {
      entry(page, "machine", row.text("host"));
    }
    if (!row.text("command").isEmpty()) {
      page.append("<dt>command</dt>");
      for (String command : row.text("command").split(" ; ", -1)) {
        page.append("<dd><code>").append(text(command)).append("</code></dd>");
      }
      page.append('\n');
    }
    page.append("</dl>\n");
    plot(row, problems).ifPresent(page::append);
    page.append("</article>\n");
  }

  private static void entry(StringBuilder page, String name, String value) {
    if (!value.isEmpty()) {
      page.append("<dt>%s</dt><dd>%s</dd>\n".formatted(name, text(value)));
    }
  }

  private Optional<String> plot(Figure row, List<String> problems) {
    List<Panel.PanelCurve> curves = curves(row);
    if (curves.isEmpty() || !problems.isEmpty()) {
      return Optional.empty();
    }
    Panel panel = new Panel(id(row), row.text("across"), row.text("up"), true, curves);
    try {
      byte[] svg = Panel.picture(List.of(panel), row.text("host")).svg();
      return Optional.of(
          "<p><img alt=\"Plot of %s\" src=\"data:image/svg+xml;base64,%s\"/></p>\n"
              .formatted(text(id(row)), Base64.getEncoder().encodeToString(svg)));
    } catch (IOException noGraphics) {
      problems.add(IoErrors.words(noGraphics));
      return Optional.empty();
    }
  }

  private static List<Panel.PanelCurve> curves(Figure row) {
    List<Panel.PanelCurve> curves = new ArrayList<>();
    if (row.values().get("curves") instanceof List<?> all) {
      for (Object each : all) {
        if (each instanceof Map<?, ?> curve) {
          curves.add(
              new Panel.PanelCurve(
                  String.valueOf(curve.get("name")),
                  numbers(curve.get("across")),
                  numbers(curve.get("up"))));
        }
      }
    }
    return curves;
  }

  /// Returns the numbers of a list; none for anything else, which another program has written.
  private static List<Double> numbers(@Nullable Object list) {
    return list instanceof List<?> all
        ? all.stream()
            .filter(Number.class::isInstance)
            .map(each -> ((Number) each).doubleValue())
            .toList()
        : List.of();
  }

  /// Returns text in which no character belongs to the markup.
  private static String text(String plain) {
    return plain
        .replaceAll("[\\p{Cntrl}]", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
