import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Uses pgclarify through JDBC as an application or a dashboard would, one topic after the other.
 *
 * <p>URL and password come from the environment. It prints a line for each topic: its name, a tab, and "ok" or what was
 * wrong.
 */
public final class Check {
    /** One thing that has to work. */
    interface Topic {
        void run() throws Exception;
    }

    private static final String URL = System.getenv("CHECK_URL");
    private static final String PASSWORD = System.getenv("CHECK_PASSWORD");

    private Check() {}

    public static void main(String[] arguments) {
        Map<String, Topic> topics = new LinkedHashMap<>();
        Metadata.addTo(topics);
        Asking.addTo(topics);
        Stopping.addTo(topics);
        topics.forEach((name, topic) -> System.out.println(name + "\t" + outcome(topic)));
    }

    private static String outcome(Topic topic) {
        try {
            topic.run();
            return "ok";
        } catch (Exception | AssertionError problem) {
            StackTraceElement place = problem.getStackTrace()[0];
            for (StackTraceElement element : problem.getStackTrace()) {
                if (element.getClassName().matches("Metadata|Asking|Stopping")) {
                    place = element;
                    break;
                }
            }
            return (problem + " at " + place).replaceAll("\\s+", " ");
        }
    }

    /** Connects as a role, with autocommit as JDBC has it. */
    static Connection connect(String role) throws SQLException {
        return DriverManager.getConnection(URL, role, PASSWORD);
    }

    /** Fails with a message unless it is so. */
    static void that(boolean isSo, Object message) {
        if (!isSo) {
            throw new AssertionError(message);
        }
    }

    /** Fails unless both are equal. */
    static void same(Object expected, Object found) {
        that(expected.equals(found), "expected " + expected + ", found " + found);
    }
}
