// SPDX-License-Identifier: Apache-2.0
// For the build: manual pages and completion scripts, in the folders where shells and man look.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/terminal/completion.hpp"
#include "cli/verbs/verb.hpp"
#include "util/folder.hpp"

namespace perfgate::cli {

void add_pages(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand("pages", "Writes manual pages and completion (internal)");
    verb->group("");  // hidden
    const auto folder = std::make_shared<std::string>();
    verb->add_option("DIR", *folder)->required();
    verb->callback([&app, &invocation, folder] {
        invocation.body = [&app, folder] {
            const util::Folder to(*folder);
            for (const auto& [name, text] : manual_pages(app, PERFGATE_VERSION)) {
                to.below("man/man1").write(name, text);
            }
            const CompletionCommand root = completion_of(app);
            to.below("bash-completion/completions").write("perfgate", bash_completion(root));
            to.below("zsh/site-functions").write("_perfgate", zsh_completion(root));
            to.below("fish/vendor_completions.d").write("perfgate.fish", fish_completion(root));
            return 0;
        };
    });
}

}  // namespace perfgate::cli
