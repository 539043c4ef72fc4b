// SPDX-License-Identifier: Apache-2.0
// For the build: manual pages and completion scripts, in the folders where shells and man look.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/terminal/completion.hpp"
#include "cli/verbs/verb.hpp"
#include "model/file.hpp"

namespace perfgate::cli {

void add_pages(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand("pages", "Writes manual pages and completion (internal)");
    verb->group("");  // hidden
    const auto folder = std::make_shared<std::string>();
    verb->add_option("DIR", *folder)->required();
    verb->callback([&app, &invocation, folder] {
        invocation.body = [&app, folder] {
            const std::filesystem::path to = *folder;
            for (const auto& [name, text] : manual_pages(app, PERFGATE_VERSION)) {
                model::write_file_atomically(to / "man/man1" / name, text);
            }
            const CompletionCommand root = completion_of(app);
            model::write_file_atomically(to / "bash-completion/completions/perfgate",
                                         bash_completion(root));
            model::write_file_atomically(to / "zsh/site-functions/_perfgate", zsh_completion(root));
            model::write_file_atomically(to / "fish/vendor_completions.d/perfgate.fish",
                                         fish_completion(root));
            return 0;
        };
    });
}

}  // namespace perfgate::cli
