import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a tool sees that shows schemas to people, such as DBeaver, or that scans them, such as Metabase. */
final class Metadata {
    private static final String SCHEMA = "pgclarify";
    /** Types that every tool shows; OTHER is PostgreSQL's own. */
    private static final Set<Integer> PLAIN = Set.of(
            Types.BIGINT, Types.INTEGER, Types.REAL, Types.DOUBLE, Types.NUMERIC, Types.BIT, Types.VARCHAR,
            Types.TIMESTAMP, Types.DATE);
    private static final Set<String> OTHERS = Set.of("interval", "jsonb", "_text", "_int8", "_name");

    private Metadata() {}

    static void addTo(Map<String, Check.Topic> topics) {
        topics.put("views have comments", Metadata::viewsHaveComments);
        topics.put("columns have comments and plain types", Metadata::columnsHaveComments);
        topics.put("functions have comments", Metadata::functionsHaveComments);
        topics.put("parameters have names", Metadata::parametersHaveNames);
        topics.put("scanning starts nothing", Metadata::scanningStartsNothing);
    }

    private static void viewsHaveComments() throws SQLException {
        try (Connection connection = Check.connect("dashboard")) {
            Check.that(views(connection).contains("run"), "no view run");
            DatabaseMetaData metadata = connection.getMetaData();
            try (ResultSet found = metadata.getTables(null, SCHEMA, "%", new String[] {"VIEW"})) {
                while (found.next()) {
                    Check.that(found.getString("REMARKS") != null, found.getString("TABLE_NAME"));
                }
            }
        }
    }

    private static void columnsHaveComments() throws SQLException {
        try (Connection connection = Check.connect("dashboard")) {
            for (String view : views(connection)) {
                try (ResultSet column = connection.getMetaData().getColumns(null, SCHEMA, view, "%")) {
                    while (column.next()) {
                        String name = view + "." + column.getString("COLUMN_NAME");
                        Check.that(column.getString("REMARKS") != null, name + " has no comment");
                        String type = column.getString("TYPE_NAME");
                        Check.that(
                                PLAIN.contains(column.getInt("DATA_TYPE")) || OTHERS.contains(type) || type.equals("oid"),
                                name + " is of type " + type);
                    }
                }
            }
        }
    }

    private static void functionsHaveComments() throws SQLException {
        List<String> names = new ArrayList<>();
        try (Connection connection = Check.connect("asker");
                ResultSet function = connection.getMetaData().getFunctions(null, SCHEMA, "%")) {
            while (function.next()) {
                String name = function.getString("FUNCTION_NAME");
                Check.that(function.getString("REMARKS") != null, name);
                names.add(name);
                if (name.equals("clarify")) {
                    Check.same(DatabaseMetaData.functionReturnsTable, (int) function.getShort("FUNCTION_TYPE"));
                }
            }
        }
        Check.that(names.containsAll(List.of("clarify", "submit", "wait", "result", "search")), names);
    }

    private static void parametersHaveNames() throws SQLException {
        List<String> parameters = new ArrayList<>();
        List<String> columns = new ArrayList<>();
        try (Connection connection = Check.connect("asker");
                ResultSet found = connection.getMetaData().getFunctionColumns(null, SCHEMA, "clarify", "%")) {
            while (found.next()) {
                boolean isParameter = found.getShort("COLUMN_TYPE") == DatabaseMetaData.functionColumnIn;
                String name = found.getString("COLUMN_NAME") + " " + found.getString("TYPE_NAME");
                (isParameter ? parameters : columns).add(name);
            }
        }
        Check.same(
                List.of(
                        "question text", "corpus text", "top_k int4", "timeout interval", "options jsonb", "filter jsonb",
                        "document_ids _text", "history _text"),
                parameters);
        Check.that(columns.containsAll(List.of("run_id int8", "document_ids _text", "citations jsonb")), columns);
    }

    private static void scanningStartsNothing() throws SQLException {
        try (Connection connection = Check.connect("dashboard")) {
            connection.setReadOnly(true);
            for (String view : views(connection)) {
                try (Statement statement = connection.createStatement()) {
                    statement.setMaxRows(10_000);
                    try (ResultSet rows = statement.executeQuery("select * from " + SCHEMA + "." + view)) {
                        while (rows.next()) {
                            rows.getObject(1);
                        }
                    }
                }
            }
            try (Statement statement = connection.createStatement();
                    ResultSet runs = statement.executeQuery(
                            "select count(*) from pgclarify.run where requested_by = current_user")) {
                runs.next();
                Check.same(0L, runs.getLong(1));
            }
            try (Statement statement = connection.createStatement()) {
                statement.executeQuery("select * from pgclarify.clarify('may a dashboard ask?')");
                throw new AssertionError("a dashboard's role asked");
            } catch (SQLException refused) {
                Check.same("42501", refused.getSQLState());
            }
        }
    }

    /** Views for people; those that begin with an underscore are our own. */
    private static List<String> views(Connection connection) throws SQLException {
        List<String> names = new ArrayList<>();
        try (ResultSet view = connection.getMetaData().getTables(null, SCHEMA, "%", new String[] {"VIEW"})) {
            while (view.next()) {
                if (!view.getString("TABLE_NAME").startsWith("_")) {
                    names.add(view.getString("TABLE_NAME"));
                }
            }
        }
        return names;
    }
}
